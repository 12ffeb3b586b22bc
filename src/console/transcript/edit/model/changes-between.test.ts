import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SegmentJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { baseOf } from "./base.ts";
import { changesBetween, segmentsAfter } from "./changes.ts";

const segment = (speakerId: string): SegmentJson => ({ speakerId, words: [] });

test("changesBetween() leads from one list of segments to the other, in disjoint ranges", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "d", "e"), maxLength: 12 });
  fc.assert(
    fc.property(letters, letters, fc.infiniteStream(fc.boolean()), (one, other, copies) => {
      const before = Array.from(one, segment);
      const known = new Map(before.map((each) => [each.speakerId ?? "", each]));
      // Some of the segments are the same objects, others only have the same JSON.
      const after = Array.from(other, (letter) => {
        const isCopy = copies.next().value;
        return (isCopy ? undefined : known.get(letter)) ?? segment(letter);
      });
      const changes = changesBetween(before, after);
      assert.deepEqual(segmentsAfter(baseOf(before), changes), after);
      let end = -1;
      for (const { startIndex, endIndex, segments } of changes) {
        assert.ok(startIndex > end && endIndex >= startIndex);
        assert.ok(endIndex > startIndex || segments.length > 0);
        end = endIndex;
      }
    }),
  );
});

test("changesBetween() of equal lists is empty, and one edit in a long list is one short range", () => {
  const before = Array.from({ length: 3_000 }, (_, at) => segment(String(at)));
  assert.deepEqual(changesBetween(before, [...before]), []);
  assert.deepEqual(changesBetween(before, structuredClone(before)), []);
  const edited = before.with(7, segment("x")).with(2_900, segment("y"));
  assert.deepEqual(changesBetween(before, edited), [
    { startIndex: 7, endIndex: 8, segments: [segment("x")] },
    { startIndex: 2_900, endIndex: 2_901, segments: [segment("y")] },
  ]);
});
