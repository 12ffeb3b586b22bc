import assert from "node:assert/strict";
import { test } from "node:test";
import { longSegments } from "../../../../../test/fixtures/long-transcript.ts";
import { changesJson, jsonBodySteps, segmentsJson } from "./json-body.ts";

const icelandic = {
  startTime: "0s",
  endTime: "1.5s",
  words: [{ startTime: "0s", endTime: "1.5s", word: "Þjóðkjörinn 🐟 " }],
  speakerId: "S1",
};

test("the body of a save is the JSON of its fields and segments", async () => {
  const segments = [icelandic, ...longSegments(4_000), icelandic];
  const fields = { metadata: { speakers: { S1: { fullName: "Æsa" } } }, note: "" };
  const { body } = made(jsonBodySteps(fields, "segments", segmentsJson(segments)));
  assert.equal(await body.text(), JSON.stringify({ ...fields, segments }));
});

test("the body of a save is the JSON of its changes", async () => {
  const change = (startIndex: number, segments: (typeof icelandic)[]) => ({
    startIndex,
    endIndex: startIndex + 1,
    segments,
  });
  const all = [change(0, [icelandic]), change(3, []), change(7, [icelandic, icelandic])];
  for (const changes of [[], all.slice(0, 1), all]) {
    const { body } = made(jsonBodySteps({}, "changes", changesJson(changes)));
    assert.equal(await body.text(), JSON.stringify({ changes }));
  }
});

test("a long body is made in as many steps as it has segments", () => {
  const segments = longSegments(20_000);
  const { steps } = made(jsonBodySteps({}, "segments", segmentsJson(segments)));
  assert.equal(steps, segments.length + 1);
});

/** Returns the result of steps, and their number. */
function made(work: Generator<void, Blob, void>): { readonly body: Blob; readonly steps: number } {
  for (let steps = 0; ; steps += 1) {
    const step = work.next();
    if (step.done) return { body: step.value, steps };
  }
}
