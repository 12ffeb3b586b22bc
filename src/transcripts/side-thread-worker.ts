// A thread of side-thread.ts: takes { task, input }, answers what the task makes of it, one after
// the other.
import { parentPort } from "node:worker_threads";

/** What runAside() runs on a thread, by name; only what is asked for is loaded. */
const tasks = {
  compareWords: async () => (await import("./diff/compare-words.ts")).compareWords,
  readFile: async () => (await import("./read-file.ts")).readFile,
  wireSegments: async () => (await import("./wire-segments.ts")).wireSegments,
  writeFile: async () => (await import("./write-file.ts")).writeFile,
};

interface Asked {
  readonly task: keyof typeof tasks;
  readonly input: never;
}

parentPort?.on("message", ({ task, input }: Asked) => {
  void answer(task, input);
});

async function answer(task: keyof typeof tasks, input: never): Promise<void> {
  const run = await tasks[task]();
  const output: unknown = run(input);
  parentPort?.postMessage(output, buffersOf(output));
}

/** What goes to the other thread without a copy: bytes that have a buffer of their own. */
function buffersOf(output: unknown): ArrayBuffer[] {
  if (!(output instanceof Uint8Array) || !(output.buffer instanceof ArrayBuffer)) return [];
  return output.buffer.byteLength === output.byteLength ? [output.buffer] : [];
}
