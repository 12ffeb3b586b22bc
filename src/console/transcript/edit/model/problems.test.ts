import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { drawnEdits, drawnPlace } from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { TranscriptSchema } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkSegments } from "../../../../transcripts/check-segments.ts";
import { baseOf, paragraphsOf, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { dividedAt } from "./divide.ts";
import { findProblems, savedLimits } from "./problems.ts";

const times = { startTime: "0s", endTime: "1s" };
const base = baseOf([{ ...times, words: [{ ...times, word: "eitt" }] }]);

function problemsOf(paragraphs: EditedParagraph[]) {
  return findProblems(base, paragraphs, changesOf(base, paragraphs));
}

test("findProblems() finds what the service would refuse", () => {
  const [own] = paragraphsOf(base);
  assert.ok(own);
  const texts: [text: string, problems: object[]][] = [
    ["eitt", []],
    ["tvö\tog\nþrjú 😀", []],
    ["x".repeat(1000), []],
    ["😀".repeat(1000), []],
    [
      `já ${"x".repeat(1001)}`,
      [{ kind: "wordChars", paragraph: 0, offset: 3, count: 1001, limit: 1000 }],
    ],
    ["a\u0000b", [{ kind: "invalidCharacter", paragraph: 0, offset: 1 }]],
    ["a\r\u0007", [1, 2].map((offset) => ({ kind: "invalidCharacter", paragraph: 0, offset }))],
    ["a\ud800", [{ kind: "invalidCharacter", paragraph: 0, offset: 1 }]],
  ];
  for (const [text, problems] of texts) {
    assert.deepEqual(problemsOf([{ ...own, text }]), problems, JSON.stringify(text));
  }
  assert.deepEqual(problemsOf([{ ...own, text: "orð ".repeat(200_001) }]), [
    { kind: "words", count: 200_001, limit: 200_000, paragraph: 0, offset: 800_000 },
  ]);
  const many = Array.from({ length: 20_000 }, () => ({ ...own, text: "x", from: 1 }));
  // Paragraphs that continue a segment are none of their own.
  const soft = { ...own, text: "x", from: 1, isSoft: true };
  assert.deepEqual(problemsOf([own, soft, ...many]), [
    { kind: "segments", count: 20_001, limit: 20_000, paragraph: 20_001, offset: 0 },
  ]);
});

test("findProblems() counts the space that a word gets from the next paragraph, or had at its end", () => {
  const x = "x".repeat(999);
  const words = [`${x} `, "eitt ", `${x} `].map((word) => ({ ...times, word }));
  const base = baseOf([{ ...times, words }]);
  const [all] = paragraphsOf(base);
  assert.ok(all);
  const [one, next] = dividedAt(base, all, 1000);
  assert.ok(next);
  const found = (paragraphs: EditedParagraph[]) =>
    findProblems(base, paragraphs, changesOf(base, paragraphs));
  const tooLong = { kind: "wordChars", count: 1001, limit: 1000 };
  const soft = { ...next, isSoft: true };
  assert.deepEqual(
    found([
      { ...one, text: x },
      { ...soft, text: "tvö" },
    ]),
    [],
  );
  assert.deepEqual(found([{ ...one, text: `a${x}` }, soft]), [
    { ...tooLong, paragraph: 0, offset: 0 },
  ]);
  assert.deepEqual(found([one, { ...soft, text: `tvö  ${x}` }]), []);
  assert.deepEqual(found([one, { ...soft, text: ` ${x}` }]), [
    { ...tooLong, paragraph: 1, offset: 0 },
  ]);
});

test("findProblems() finds something if and only if the service refuses the text", () => {
  const typed = fc.oneof(
    fc.constantFrom("", "orð ", " ", "\u0000", "\u007f", "\ud800", "\t", "\n"),
    fc.integer({ min: 995, max: 1_005 }).map((length) => `${"x".repeat(length)} `),
    fc.integer({ min: 995, max: 1_005 }).map((length) => "😀".repeat(length)),
  );
  fc.assert(
    fc.property(
      drawnEdits,
      drawnPlace,
      fc.array(typed, { maxLength: 3 }),
      (edited, place, texts) => {
        const { base, retimings } = edited;
        // No caret stands inside a character, where the test may have divided a paragraph.
        fc.pre(edited.paragraphs.every(({ text }) => text.isWellFormed()));
        const index = place.paragraph % Math.max(1, edited.paragraphs.length);
        const before = edited.paragraphs[index];
        if (!before) return;
        const at = place.at % (before.text.length + 1);
        const text = before.text.slice(0, at) + texts.join("") + before.text.slice(at);
        const paragraphs = edited.paragraphs.with(index, { ...before, text });
        const changes = changesOf(base, paragraphs, retimings);
        const found = findProblems(base, paragraphs, changes, retimings);
        const json = { segments: JSON.parse(JSON.stringify(segmentsAfter(base, changes))) };
        let isAccepted = text.isWellFormed();
        if (isAccepted) {
          const { segments } = fromJson(TranscriptSchema, json, { ignoreUnknownFields: true });
          isAccepted = [...checkSegments(segments)].length === 0;
        }
        assert.equal(found.length === 0, isAccepted, JSON.stringify(found));
      },
    ),
    { numRuns: runs(600) },
  );
});

test("findProblems() counts the segments and words that would be saved, at their limits", () => {
  const near = fc.integer({ min: -2, max: 2 });
  const own = (count: number, size: number) =>
    baseOf(
      Array.from({ length: count }, (_, at) => {
        const times = { startTime: `${at}s`, endTime: `${at}s` };
        return {
          ...times,
          words: Array.from({ length: size }, () => ({ ...times, word: "orð " })),
        };
      }),
    );
  const bases = { segments: own(19_998, 2), words: own(1_000, 200) };
  fc.assert(
    fc.property(fc.constantFrom("segments", "words"), near, fc.nat(), (kind, by, place) => {
      const base = bases[kind];
      let paragraphs = paragraphsOf(base);
      const index = place % (paragraphs.length - 8);
      if (kind === "segments") {
        const some = paragraphs.slice(index, index + 4);
        const more = some.map((one, at) => (at < by + 2 ? dividedAt(base, one, 4) : [one]));
        paragraphs = paragraphs.toSpliced(index, 4, ...more.flat());
      } else {
        const [one] = paragraphs.slice(index);
        assert.ok(one);
        const text = by < 0 ? one.text.slice(-4 * by) : one.text + "ný ".repeat(by);
        paragraphs = paragraphs.with(index, { ...one, text });
      }
      const changes = changesOf(base, paragraphs);
      const saved = segmentsAfter(base, changes);
      const counts = {
        segments: saved.length,
        words: saved.reduce((sum, { words = [] }) => sum + words.length, 0),
      };
      const limit = savedLimits[kind];
      assert.equal(counts[kind], limit + by);
      const found = findProblems(base, paragraphs, changes);
      const counted = found.map(({ paragraph, offset, ...problem }) => {
        assert.ok(offset < (paragraphs[paragraph]?.text.length ?? 0), "it has a place");
        return problem;
      });
      assert.deepEqual(counted, by > 0 ? [{ kind, count: limit + by, limit }] : []);
    }),
    { numRuns: runs(40) },
  );
});
