import { parentPort, workerData } from "node:worker_threads";

/** What runAside() runs on a thread, by name; only that is loaded. */
const tasks = {
  compareWords: async () => (await import("./diff/compare-words.ts")).compareWords,
  readFile: async () => (await import("./read-file.ts")).readFile,
  writeFile: async () => (await import("./write-file.ts")).writeFile,
};

const { task, input }: { task: keyof typeof tasks; input: never } = workerData;
const run = await tasks[task]();
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(run(input));
