import assert from "node:assert/strict";
import { test } from "node:test";
import { joinUtterances } from "../protocol/kept-outputs.ts";
import { CollectedOutputs } from "./collected-outputs.ts";

const [first, second, third] = [1, 2, 3].map((startMs) => ({
  startMs,
  bytes: Uint8Array.of(startMs),
}));
assert.ok(first && second && third);

test("an utterance that a lost process reported without its commit is not kept twice", () => {
  const outputs = new CollectedOutputs();
  outputs.begin("m 1");
  outputs.add(first);
  outputs.commit();
  outputs.add(second);
  outputs.begin("m 1");
  outputs.add(second);
  outputs.commit();
  outputs.commit();
  assert.deepEqual(outputs.end(), { model: "m 1", bytes: joinUtterances([first, second]) });
});

test("outputs of several models, and of engines that keep none, are not returned", () => {
  for (const models of [["m 1", "m 2"], ["m 1", undefined], [undefined], ["m 1", "m 2", "m 2"]]) {
    const outputs = new CollectedOutputs();
    for (const model of models) {
      outputs.begin(model);
      outputs.add(third);
      outputs.commit();
    }
    assert.equal(outputs.end(), undefined, models.join());
  }
});

test("a recognition without utterances has empty outputs", () => {
  const outputs = new CollectedOutputs();
  outputs.begin("m 1");
  assert.deepEqual(outputs.end(), { model: "m 1", bytes: new Uint8Array(0) });
});
