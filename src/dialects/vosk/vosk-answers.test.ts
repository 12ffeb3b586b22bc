import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveEvent } from "../live-session.ts";
import { voskDefaults } from "./read-config.ts";
import { VoskAnswers } from "./vosk-answers.ts";

const word = (text: string) => ({ text, startMs: 500, endMs: 1_000, confidence: 0.5 });
const reading = (text: string) => ({ text, words: text.split(" ").map(word) });
const interim = (text: string): LiveEvent => ({ kind: "interim", best: reading(text), endMs: 0 });
const final = (text: string): LiveEvent => ({
  kind: "final",
  alternatives: [reading(text)],
  startMs: 0,
  endMs: 0,
  isCut: false,
});
const finalized: LiveEvent = { kind: "finalized", endMs: 0 };
const config = { ...voskDefaults, withWords: false };

/** Applies events, and what the client sent, in order. Returns the answers to each. */
function run(steps: readonly (LiveEvent | "audio" | "reset")[]): string[][] {
  const answers = new VoskAnswers();
  return steps.map((step) => {
    if (typeof step === "string") answers.expect(step);
    else answers.take(step);
    return [...answers.ready(config)];
  });
}

test("VoskAnswers answers audio with the newest partial result, or the next final one", () => {
  assert.deepEqual(
    run(["audio", interim("Reyk"), interim("Reykja"), "audio", "audio", final("Reykjavík")]),
    [['{"partial" : ""}'], [], [], ['{"partial" : "reykja"}'], ['{"partial" : "reykja"}'], []],
  );
  const steps = [final("a"), interim("b"), final("b"), "audio", "audio", "audio"] as const;
  assert.deepEqual(run(steps).flat(), ['{"text" : "a"}', '{"text" : "b"}', '{"partial" : ""}']);
});

test("VoskAnswers answers a reset once its results have come, and what follows after it", () => {
  assert.deepEqual(run(["audio", "reset", "audio", final("a"), final("b"), finalized, "audio"]), [
    ['{"partial" : ""}'],
    [],
    [],
    [],
    [],
    ['{"text" : "a b"}', '{"partial" : ""}'],
    ['{"partial" : ""}'],
  ]);
  assert.deepEqual(run(["reset", "reset", finalized, finalized]).flat(), [
    '{"text" : ""}',
    '{"text" : ""}',
  ]);
});

test("VoskAnswers ends with everything that waits, in one answer", () => {
  const answers = new VoskAnswers();
  for (const each of [final("Hún"), final("býr hér")]) answers.take(each);
  const words = '"conf" : 0.5, "end" : 1, "start" : 0.5, "word" :';
  const list = ["hún", "býr", "hér"].map((text) => `{${words} "${text}"}`).join(", ");
  assert.equal(answers.last(voskDefaults), `{"result" : [${list}], "text" : "hún býr hér"}`);
  assert.equal(answers.last(voskDefaults), '{"text" : ""}');
  answers.take(final("a"));
  assert.equal(
    answers.last({ ...config, alternativesMax: 2 }),
    '{"alternatives" : [{"confidence" : 1, "text" : "a"}]}',
  );
});
