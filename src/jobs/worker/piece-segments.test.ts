import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { EngineWord } from "../../engines/protocol/engine.ts";
import type { Recognition } from "../../engines/protocol/recognizer.ts";
import type { Segment } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { segmentsFromJson, segmentsJson } from "../../transcripts/segments.ts";
import { joinSegments, segmentsOfPiece } from "./piece-segments.ts";

function recognition(text: string, words: readonly EngineWord[], audioEndMs: number): Recognition {
  return { isFinal: true, alternatives: [{ text, words }], audioEndMs };
}

function word(text: string, startMs: number, endMs: number): EngineWord {
  return { text, startMs, endMs };
}

function shownSegments(segments: readonly Segment[]) {
  return segments.map(({ startTime, endTime, words }) => ({
    times: [startTime, endTime].map((time) => time && msOfDuration(time)),
    words: words.map(({ word, startTime, endTime }) => [
      word,
      startTime && msOfDuration(startTime),
      endTime && msOfDuration(endTime),
    ]),
  }));
}

const piece = { startMs: 10_000, endMs: 20_000 };

test("`segmentsOfPiece()` creates a segment for each utterance, with times relative to the media", () => {
  const segments = segmentsOfPiece(
    [
      recognition("hello world", [word("hello", 100.4, 500), word("world", 600, 900.6)], 1_500),
      recognition("again", [word("again", 2_000, 2_400)], 3_000),
    ],
    piece,
  );
  assert.deepEqual(shownSegments(segments), [
    {
      times: [10_100, 10_901],
      words: [
        ["hello ", 10_100, 10_500],
        ["world ", 10_600, 10_901],
      ],
    },
    { times: [12_000, 12_400], words: [["again ", 12_000, 12_400]] },
  ]);
});

test("`segmentsOfPiece()` spreads words without times over their utterance", () => {
  const recognized = [recognition("to be", [], 1_000), recognition("or not", [], 6_000)];
  assert.deepEqual(shownSegments(segmentsOfPiece(recognized, piece)), [
    {
      times: [10_000, 11_000],
      words: [
        ["to ", 10_000, 10_500],
        ["be ", 10_500, 11_000],
      ],
    },
    {
      times: [11_000, 16_000],
      words: [
        ["or ", 11_000, 13_000],
        ["not ", 13_000, 16_000],
      ],
    },
  ]);
});

test("`segmentsOfPiece()` keeps the confidence of each word with three decimals, and invents none", () => {
  const sure = { ...word("sure", 0, 100), confidence: 0.987_654 };
  const [segment, spread] = segmentsOfPiece(
    [
      recognition("sure unknown", [sure, word("unknown", 200, 300)], 500),
      {
        ...recognition("no times", [], 900),
        alternatives: [{ text: "no times", confidence: 0.9, words: [] }],
      },
    ],
    piece,
  );
  assert.deepEqual(
    segment?.words.map(({ confidence }) => confidence),
    [0.988, undefined],
  );
  assert.deepEqual(
    spread?.words.map(({ confidence }) => confidence),
    [undefined, undefined],
  );
  const marks = [segment, spread].map((each) => each?.words.map((one) => one.estimatedTimes));
  assert.deepEqual(marks, [
    [undefined, undefined],
    [true, true],
  ]);
  const [kept] = segmentsFromJson(JSON.parse(segmentsJson(segment ? [segment] : [])));
  assert.deepEqual(kept, segment);
});

test("`segmentsOfPiece()` skips interim and empty results", () => {
  const interim = { ...recognition("no", [word("no", 0, 1)], 1), isFinal: false };
  assert.deepEqual(segmentsOfPiece([interim, recognition(" ", [], 5)], piece), []);
});

test("`segmentsOfPiece()` keeps all times in order and within the piece, whatever the engine returns", () => {
  const time = fc.double({ min: -5_000, max: 30_000, noNaN: true });
  const recognized = fc.array(
    fc.record({ words: fc.array(fc.tuple(time, time), { maxLength: 5 }), end: time }),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(recognized, (utterances) => {
      const segments = segmentsOfPiece(
        utterances.map(({ words, end }) =>
          recognition(
            "some text",
            words.map(([start, stop]) => word("w", start, stop)),
            end,
          ),
        ),
        piece,
      );
      let at = piece.startMs;
      for (const { times, words } of shownSegments(segments)) {
        for (const [, start, stop] of words) {
          assert.ok(typeof start === "number" && typeof stop === "number");
          assert.ok(at <= start && start <= stop && stop <= piece.endMs);
          at = stop;
        }
        assert.deepEqual(times, [words.at(0)?.[1], words.at(-1)?.[2]]);
      }
    }),
    { seed: 5 },
  );
});

test("segments of all pieces are readable text in order and contain their words, whatever spaces engines return", () => {
  const word = fc.constantFrom(
    "a",
    "við",
    "New York",
    " padded ",
    "two\n lines",
    "",
    " ",
    "\u00a0",
  );
  const time = fc.integer({ min: -1_000, max: 12_000 });
  const timed = fc
    .tuple(word, time, time)
    .map(([text, startMs, endMs]) => ({ text, startMs, endMs }));
  const utterance = fc
    .tuple(fc.array(timed, { maxLength: 4 }), fc.boolean(), time)
    .map(([words, hasTimes, endMs]) => {
      const text = words.map((each) => each.text).join(" ");
      return recognition(text, hasTimes ? words : [], endMs);
    });
  const recognized = fc.array(fc.array(utterance, { maxLength: 3 }), { maxLength: 3 });
  fc.assert(
    fc.property(recognized, (pieces) => {
      const joined = joinSegments(
        pieces.map((recognitions, index) =>
          segmentsOfPiece(recognitions, { startMs: index * 10_000, endMs: (index + 1) * 10_000 }),
        ),
      );
      const shown = shownSegments(joined);
      const text = shown.flatMap(({ words }) => words.map(([each]) => each)).join("");
      const said = pieces.flat().map(({ alternatives }) => alternatives[0]?.text ?? "");
      assert.equal(text, said.join(" ").trim().split(/\s+/).join(" "));
      let at = 0;
      for (const { times, words } of shown) {
        assert.ok(words.length > 0);
        assert.deepEqual(times, [words.at(0)?.[1], words.at(-1)?.[2]]);
        for (const [, start, end] of words) {
          assert.ok(typeof start === "number" && typeof end === "number");
          assert.ok(at <= start && start <= end);
          at = end;
        }
      }
    }),
    { numRuns: 300, seed: 11 },
  );
});

test("`joinSegments()` produces readable text without a space at its end", () => {
  const pieces = [
    segmentsOfPiece([recognition("a b", [word("a", 0, 1), word("b", 2, 3)], 3)], piece),
    [],
    segmentsOfPiece([recognition("c", [word("c", 0, 1)], 3)], { startMs: 20_000, endMs: 30_000 }),
  ];
  const stored = pieces.map((segments) => segmentsFromJson(JSON.parse(segmentsJson(segments))));
  const joined = joinSegments(stored);
  const text = joined.flatMap(({ words }) => words.map(({ word }) => word)).join("");
  assert.equal(text, "a b c");
  assert.equal(joined.length, 2);
  assert.deepEqual(joinSegments([]), []);
});
