import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { utteranceParts } from "./utterance-parts.ts";

test("utteranceParts() cuts long utterances where they are quiet, and drops no samples", () => {
  const speech = joined(noise(4600, 9000), silence(200), noise(3000, 9000));
  const parts = utteranceParts(speech, 5 * 16_000);
  assert.deepEqual(
    parts.map(({ length }) => Math.round(length / 160)),
    [465, 315].map((frames) => frames).toSorted((one, other) => other - one),
  );
  assert.deepEqual(joined(...parts), speech);
});

test("utteranceParts() keeps short utterances whole, and limits the length of parts of loud ones", () => {
  const short = noise(1000, 9000);
  assert.deepEqual(utteranceParts(short, 16_000), [short]);
  assert.deepEqual(utteranceParts(silence(0), 16_000), [silence(0)]);
  const parts = utteranceParts(noise(10_000, 9000), 16_000);
  assert.ok(parts.every(({ length }) => length > 0 && length <= 16_000));
  assert.deepEqual(joined(...parts), noise(10_000, 9000));
});
