import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { espeak, joined, silence } from "../../../test/fixtures/flite.ts";
import { drain, hear, starterFolder, streamingCard } from "../../../test/fixtures/sherpa-models.ts";
import type { Engine } from "../protocol/engine.ts";
import { openSherpaEngine } from "./sherpa-engine.ts";

describe("StreamingDecoder", () => {
  let engine: Engine;
  /** It ends with its last sound. */
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

  test("hears the last word where nothing comes after it", async () => {
    assert.equal((await hear(newDecoder(), spoken))[0]?.text, "góðan daginn");
  });

  test("tells nothing of the utterance before", async () => {
    const decoder = newDecoder();
    await hear(decoder, spoken);
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

  test("tells what it heard while more is yet to be decoded", async () => {
    const decoder = newDecoder();
    decoder.begin();
    decoder.accept(spoken.subarray(0, 8000));
    for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
    const told = decoder.partial();
    assert.ok(told);
    decoder.accept(spoken.subarray(8000));
    const work = decoder.work();
    assert.ok(work instanceof Promise);
    assert.equal(decoder.partial(), told);
    await work;
    assert.notEqual(decoder.partial(), told);
    decoder.close();
  });

  test("does not listen to the end of what is only silence", async () => {
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

  test("is over when it is closed, whatever it waits for", async () => {
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
