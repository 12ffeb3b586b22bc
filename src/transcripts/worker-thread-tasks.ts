// A worker thread of worker-threads.ts. It receives { task, input } and sends the result of the
// task, one task after another.
import { parentPort } from "node:worker_threads";

/** The tasks of runInWorkerThread(), by name; only modules that are used are loaded. */
const tasks = {
  compareWords: async () => (await import("./diff/compare-words.ts")).compareWords,
  findEdits: async () => (await import("./find-edits.ts")).findEdits,
  readFile: async () => (await import("./read-file.ts")).readFile,
  retimeSegments: async () => (await import("./retime-segments.ts")).retimeSegments,
  segmentWords: async () => (await import("./retime-segments.ts")).segmentWords,
  spliceSegments: async () => (await import("./splice-segments.ts")).spliceSegments,
  wireSegments: async () => (await import("./wire-segments.ts")).wireSegments,
  writeFile: async () => (await import("./write-file.ts")).writeFile,
};

interface Task {
  readonly task: keyof typeof tasks;
  readonly input: never;
}

parentPort?.on("message", ({ task, input }: Task) => {
  void answer(task, input);
});

async function answer(task: keyof typeof tasks, input: never): Promise<void> {
  const run = await tasks[task]();
  const output: unknown = run(input);
  parentPort?.postMessage(output, buffersOf(output));
}

/**
 * Returns the buffers to transfer without a copy: those of arrays that do not share their buffer.
 */
function buffersOf(output: unknown): ArrayBuffer[] {
  if (!(output instanceof Uint8Array) || !(output.buffer instanceof ArrayBuffer)) return [];
  return output.buffer.byteLength === output.byteLength ? [output.buffer] : [];
}
