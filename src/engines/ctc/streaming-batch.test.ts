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

/** A stream of frames like speech, another for each seed, with all that was heard of it. */
function streamOf(seed: number, mode: Window["mode"] = "live") {
  const state = newStreamState(shape);
  const heard: Float32Array[] = [];
  const length = shape.windowFrames * shape.binCount;
  const next = (): Window => {
    const at = heard.length;
    const frames = Float32Array.from(
      { length },
      (_, index) => -8 + 4 * Math.sin(index * (0.01 + seed / 700) + at * seed),
    );
    const take = (logs: Float32Array) => void heard.push(logs.slice());
    return { mode, state, frames: () => frames, take, isForgotten: false };
  };
  return { state, heard, next };
}

async function hearAll(batch: StreamingBatch, windows: readonly Window[]): Promise<void> {
  await Promise.all(windows.map((window) => batch.hear(window)));
}

test("a stream hears the same to the bit alone and beside any others, wherever it stands", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const alone = streamOf(1);
  for (let window = 0; window < 5; window++) await batch.hear(alone.next());
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
      await hearAll(
        batch,
        streams.map((stream) => stream.next()),
      );
    }
    assert.deepEqual(streams[place]?.heard, alone.heard, `stream ${place} of ${count}`);
    assert.deepEqual(streams[place]?.state, alone.state);
  }
});

test("windows that come in one turn are heard in one run", async () => {
  const runs: number[] = [];
  const batch = new StreamingBatch(model.session, shape);
  const [one, two, three] = [streamOf(1), streamOf(2), streamOf(3)];
  const noted = (stream: ReturnType<typeof streamOf>, at: number) =>
    batch.hear(stream.next()).then(() => runs.push(at));
  const first = [noted(one, 1), noted(two, 1)];
  await turn();
  first.push(noted(three, 2));
  await Promise.all(first);
  assert.deepEqual(runs, [1, 1, 2]);
});

test("live windows go first, and others are heard after them", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const order: string[] = [];
  const modes = ["job", "short", "live", "job", "live"] as const;
  const windows = modes.map((mode, index) =>
    batch.hear(streamOf(index, mode).next()).then(() => order.push(mode)),
  );
  await Promise.all(windows);
  assert.deepEqual(order, ["live", "live", "short", "job", "job"]);
});

test("a forgotten window resolves, and nothing is done with it", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const [kept, early, late] = [streamOf(1), streamOf(2), streamOf(3)];
  const gone = () => {
    throw new Error("its frames are gone");
  };
  const first: Window = { ...early.next(), frames: gone };
  const second = late.next();
  const heard = hearAll(batch, [kept.next(), first, second]);
  first.isForgotten = true;
  await turn();
  // The run has begun.
  second.isForgotten = true;
  await heard;
  assert.equal(kept.heard.length, 1);
  assert.equal(early.heard.length + late.heard.length, 0);
  assert.deepEqual(late.state, newStreamState(shape));
});

test("a run that fails is told to those in it, and those after it are heard", async () => {
  const batch = new StreamingBatch(model.session, shape);
  const broken: Window = {
    ...streamOf(1).next(),
    frames: () => {
      throw new Error("no frames");
    },
  };
  const failed = batch.hear(broken);
  await assert.rejects(failed, /no frames/);
  const next = streamOf(2);
  await batch.hear(next.next());
  assert.equal(next.heard.length, 1);
});
