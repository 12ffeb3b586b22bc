import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { espeak, joined, silence } from "../../../test/fixtures/flite.ts";
import {
  drain,
  recognize,
  starterFolder,
  streamingCard,
} from "../../../test/fixtures/sherpa-models.ts";
import type { Engine } from "../protocol/engine.ts";
import { openSherpaEngine } from "./sherpa-engine.ts";

describe("StreamingDecoder", () => {
  let engine: Engine;
  /** Speech without silence after the last sound. */
  let spoken: Int16Array;
  before(async () => {
    engine = await openSherpaEngine(streamingCard, starterFolder);
    const said = espeak("góðan daginn");
    spoken = said.subarray(
      0,
      said.findLastIndex((sample) => Math.abs(sample) > 500),
    );
  });

  const newDecoder = () => engine.createDecoder({ mode: "live", alternativesMax: 1 });

  test("recognizes the last word even if no audio follows it", async () => {
    assert.equal((await recognize(newDecoder(), spoken))[0]?.text, "góðan daginn");
  });

  test("returns no words of the previous utterance", async () => {
    const decoder = newDecoder();
    await recognize(decoder, spoken);
    decoder.begin();
    decoder.accept(spoken.subarray(3000, 3200));
    assert.equal(decoder.partial(), undefined);
    decoder.begin();
    decoder.accept(spoken);
    for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
    assert.match(decoder.partial()?.text ?? "", /^góðan/);
    decoder.begin();
    assert.equal(decoder.partial(), undefined);
    assert.deepEqual(await drain(decoder), []);
  });

  test("keeps its partial reading while a step waits to be decoded", async () => {
    const decoder = newDecoder();
    decoder.begin();
    decoder.accept(spoken.subarray(0, 8000));
    for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
    const partial = decoder.partial();
    assert.ok(partial);
    decoder.accept(spoken.subarray(8000));
    const work = decoder.work();
    assert.ok(work instanceof Promise);
    assert.equal(decoder.partial(), partial);
    await work;
    assert.notEqual(decoder.partial(), partial);
    decoder.close();
  });

  test("does not finish decoding an utterance of silence", async () => {
    const decoder = newDecoder();
    decoder.begin();
    decoder.accept(silence(3000));
    assert.deepEqual(decoder.end().next(), { done: true, value: [] });
    decoder.begin();
    decoder.accept(joined(silence(3000), Int16Array.of(1)));
    const { done } = decoder.end().next();
    assert.equal(done, false);
    decoder.close();
  });

  test("ends when it is closed, even while it waits", async () => {
    const decoder = newDecoder();
    decoder.begin();
    decoder.accept(spoken);
    const work = decoder.work();
    decoder.close();
    await work;
    assert.equal(decoder.work(), false);
    assert.equal(decoder.partial(), undefined);
    assert.deepEqual(await drain(decoder), []);
  });
});
