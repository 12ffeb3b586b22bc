import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf } from "./base.ts";
import { matchVersionsSteps } from "./match-versions.ts";

const count = 20_000;

/** Returns a version all of whose words have the same time. `word` returns a word's text. */
function versionOf(word: (at: number) => string) {
  const words = Array.from({ length: count }, (_, at) => ({
    startTime: "0s",
    endTime: "0s",
    word: `${word(at)} `,
  }));
  return baseOf([{ startTime: "0s", endTime: "0s", words }]);
}

test("matchVersionsSteps() yields often in a text whose words have no times of their own", () => {
  const base = versionOf((at) => `${at % 700}`);
  const version = versionOf((at) => (at % 20 === 3 ? "ráðherra" : `${at % 700}`));
  const steps = matchVersionsSteps(base, version, {
    tokens: base.words.map(({ word = "" }, ref) => ({ text: word, ref })),
    places: Int32Array.from(base.words.keys()),
  });
  let yields = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) yields += 1;
  assert.deepEqual(
    [...step.value].filter((ref, at) => at % 20 !== 3 && ref !== at),
    [],
    "the words that have not changed are found",
  );
  // The search for a shortest script yields a thousand times, and each replaced word adds one.
  assert.ok(yields > 1_900, `it yields ${yields} times`);
});
