import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { starterCard, starterFolders } from "../../../test/fixtures/open-starter.ts";
import { type CtcModel, openCtcModel } from "./ctc-model.ts";
import { StreamingBatch, type Window } from "./streaming-batch.ts";
import { newStreamState, type StreamingShape } from "./window-tensors.ts";

let model: CtcModel;
let shape: StreamingShape;
before(async () => {
  model = await openCtcModel(starterCard("streaming"), starterFolders.streaming);
  assert.ok(model.layout.kind === "streaming-nemo-ctc");
  shape = model.layout;
});
after(() => model.session.release());

/** A stream of speech-like frames, different for each seed, with all its outputs. */
function streamOf(seed: number, mode: Window["mode"] = "live") {
  const state = newStreamState(shape);
  const outputs: Float32Array[] = [];
  const length = shape.windowFrames * shape.binCount;
  const next = (): Window => {
    const at = outputs.length;
    const frames = Float32Array.from(
      { length },
      (_, index) => -8 + 4 * Math.sin(index * (0.01 + seed / 700) + at * seed),
    );
    const take = (logs: Float32Array) => void outputs.push(logs.slice());
    return { mode, state, frames: () => frames, take, isCancelled: false };
  };
  return { state, outputs, next };
}

async function runAll(batch: StreamingBatch, windows: readonly Window[]): Promise<void> {
  await Promise.all(windows.map((window) => batch.run(window)));
}

test("a stream has exactly the same outputs on its own and together with others, in any row", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const alone = streamOf(1);
  for (let window = 0; window < 5; window++) await batch.run(alone.next());
  for (const [count, place] of [
    [2, 0],
    [2, 1],
    [16, 0],
    [16, 15],
    [40, 37],
  ] as const) {
    const streams = Array.from({ length: count }, (_, index) =>
      streamOf(index === place ? 1 : 2 + index),
    );
    for (let window = 0; window < 5; window++) {
      await runAll(
        batch,
        streams.map((stream) => stream.next()),
      );
    }
    assert.deepEqual(streams[place]?.outputs, alone.outputs, `stream ${place} of ${count}`);
    assert.deepEqual(streams[place]?.state, alone.state);
  }
});

test("windows from one turn of the event loop share a run", async () => {
  const runs: number[] = [];
  const batch = new StreamingBatch(model.session, shape);
  const [one, two, three] = [streamOf(1), streamOf(2), streamOf(3)];
  const noted = (stream: ReturnType<typeof streamOf>, at: number) =>
    batch.run(stream.next()).then(() => runs.push(at));
  const first = [noted(one, 1), noted(two, 1)];
  await turn();
  first.push(noted(three, 2));
  await Promise.all(first);
  assert.deepEqual(runs, [1, 1, 2]);
});

/**
 * Windows that note when the batch reads their frames and when they get their outputs: a run reads
 * the frames of all its windows first.
 */
function notedWindows(batch: StreamingBatch) {
  const notes: string[] = [];
  const run = async (seed: number): Promise<void> => {
    const { frames, take, ...window } = streamOf(seed).next();
    await batch.run({
      ...window,
      frames: () => {
        notes.push(`reads ${seed}`);
        return frames();
      },
      take: (logs) => {
        notes.push(`gives ${seed}`);
        take(logs);
      },
    });
  };
  return { notes, run };
}

test("windows that come within the wait share a run", async () => {
  const batch = new StreamingBatch(model.session, shape, { batchStreams: 32, batchWaitMs: 100 });
  const { notes, run } = notedWindows(batch);
  const first = run(1);
  await turn();
  await turn();
  await Promise.all([first, run(2)]);
  assert.deepEqual(notes, ["reads 1", "reads 2", "gives 1", "gives 2"]);
});

test("a run that is full does not wait, and the windows that are left follow it", async () => {
  const batchWaitMs = 2 ** 31 - 1;
  const batch = new StreamingBatch(model.session, shape, { batchStreams: 2, batchWaitMs });
  const { notes, run } = notedWindows(batch);
  await Promise.all([run(1), run(2), run(3)]);
  const firstRun = ["reads 1", "reads 2", "gives 1", "gives 2"];
  assert.deepEqual(notes, [...firstRun, "reads 3", "gives 3"]);
});

test("live windows run first, and the others after them", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const order: string[] = [];
  const modes = ["job", "short", "live", "job", "live"] as const;
  const windows = modes.map((mode, index) =>
    batch.run(streamOf(index, mode).next()).then(() => order.push(mode)),
  );
  await Promise.all(windows);
  assert.deepEqual(order, ["live", "live", "short", "job", "job"]);
});

test("a cancelled window resolves, and is not processed", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const [kept, early, late] = [streamOf(1), streamOf(2), streamOf(3)];
  const failing = () => {
    throw new Error("its frames are not needed");
  };
  const first: Window = { ...early.next(), frames: failing };
  const second = late.next();
  const running = runAll(batch, [kept.next(), first, second]);
  first.isCancelled = true;
  await turn();
  // The run has begun by now.
  second.isCancelled = true;
  await running;
  assert.equal(kept.outputs.length, 1);
  assert.equal(early.outputs.length + late.outputs.length, 0);
  assert.deepEqual(late.state, newStreamState(shape));
});

test("a failed run rejects its windows, and later windows still run", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const broken: Window = {
    ...streamOf(1).next(),
    frames: () => {
      throw new Error("no frames");
    },
  };
  const failed = batch.run(broken);
  await assert.rejects(failed, /no frames/);
  const next = streamOf(2);
  await batch.run(next.next());
  assert.equal(next.outputs.length, 1);
});
