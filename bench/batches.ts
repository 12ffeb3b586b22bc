// `npm run bench:batches [-- --streams 100 --rounds 5]` measures what HLUST_BATCH_WAIT costs and
// saves: paced streams of is-IS-starter, at random phases, through the batch of one engine process.
// Each round measures all waits one after another.
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openCtcModel } from "../src/engines/ctc/ctc-model.ts";
import { StreamingBatch } from "../src/engines/ctc/streaming-batch.ts";
import { newStreamState } from "../src/engines/ctc/window-tensors.ts";
import { starterCard, starterFolders } from "../test/fixtures/open-starter.ts";
import { report, reportMachine } from "./report.ts";

const { values } = parseArgs({
  options: {
    streams: { type: "string", default: "100" },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
  },
});
const streamCount = Number(values.streams);
const sliceMs = Number(values.seconds) * 1_000;
const waitsMs = [0, 5, 10, 20, 40];

interface Slice {
  readonly cpuMs: number;
  readonly windows: number;
  readonly runs: number;
  readonly delaysMs: number[];
}

const model = await openCtcModel(starterCard("streaming"), starterFolders.streaming);
const { session, layout } = model;
if (layout.kind !== "streaming-nemo-ctc") throw new Error("the starter model is for streams");
const shape = layout;
const periodMs = shape.shiftFrames * shape.frameMs;
const frames = Float32Array.from(
  { length: shape.windowFrames * shape.binCount },
  (_, at) => -8 + 4 * Math.sin(at / 50),
);

async function measure(batchWaitMs: number): Promise<Slice> {
  const batch = new StreamingBatch(session, shape, { batchStreams: 256, batchWaitMs });
  const delaysMs: number[] = [];
  let runs = 0;
  let lastRead = false;
  const endsAt = performance.now() + sliceMs;
  const stream = async (): Promise<void> => {
    const state = newStreamState(shape);
    await sleep(Math.random() * periodMs);
    while (performance.now() < endsAt) {
      const givenAt = performance.now();
      const read = (): Float32Array => {
        // A run reads all its windows before it gives any.
        if (!lastRead) runs += 1;
        lastRead = true;
        return frames;
      };
      const take = (): void => {
        lastRead = false;
        delaysMs.push(performance.now() - givenAt);
      };
      await batch.run({ mode: "live", state, frames: read, take, isCancelled: false });
      await sleep(Math.max(0, givenAt + periodMs - performance.now()));
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: streamCount }, stream));
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1_000, windows: delaysMs.length, runs, delaysMs };
}

reportMachine();
const byWait = new Map<number, Slice[]>(waitsMs.map((waitMs) => [waitMs, []]));
await measure(0);
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const waitMs of waitsMs) byWait.get(waitMs)?.push(await measure(waitMs));
}
const sum = (slices: readonly Slice[], of: (slice: Slice) => number) =>
  slices.reduce((total, slice) => total + of(slice), 0);
const costOf = (slices: readonly Slice[]) =>
  sum(slices, ({ cpuMs }) => cpuMs) / sum(slices, ({ windows }) => windows);
const plain = costOf(byWait.get(0) ?? []);
const figures = Array.from(byWait, ([waitMs, slices]) => {
  const delays = slices.flatMap(({ delaysMs }) => delaysMs).toSorted((one, other) => one - other);
  const at = (share: number) =>
    (delays[Math.floor(share * delays.length)] ?? Number.NaN).toFixed(1);
  const rows = sum(slices, ({ windows }) => windows) / sum(slices, ({ runs }) => runs);
  return {
    name: `CPU of a window with a wait of ${waitMs} ms, of no wait`,
    ratio: costOf(slices) / plain,
    // A short wait may cost its timers; a long one has to save.
    ratioMax: waitMs < 20 ? 1.5 : 0.9,
    note: `${costOf(slices).toFixed(2)} ms for ${periodMs} ms, ${rows.toFixed(1)} windows in a run, delay p50 ${at(0.5)} and p95 ${at(0.95)} ms`,
  };
});
report(figures);
await session.release();
