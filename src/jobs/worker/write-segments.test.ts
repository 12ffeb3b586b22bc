import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  SegmentSchema,
  type Segment,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, msOfDuration } from "../../std/duration.ts";
import { checkSegments } from "../../transcripts/check-segments.ts";
import { writeSegments } from "./write-segments.ts";

const wordMs = 300;
const gapMs = 50;

/**
 * Returns segments of words of 300 ms, 50 ms after each other. A number in a text is a pause of
 * this many milliseconds, in addition. A segment begins with its text, and the speaker before ":".
 */
function segmentsOf(...texts: readonly string[]): Segment[] {
  let at = 0;
  return texts.map((text) => {
    const [, speakerId = "", said = ""] = /^(?:(\w+): )?(.*)$/.exec(text) ?? [];
    const words = said.split(" ").flatMap((word) => {
      if (/^\d+$/.test(word)) {
        at += Number(word);
        return [];
      }
      const startMs = at + gapMs;
      at = startMs + wordMs;
      return [timed(`${word} `, startMs, at)];
    });
    return create(SegmentSchema, {
      speakerId,
      words,
      ...(words[0] && { startTime: words[0].startTime }),
      endTime: durationFromMs(at),
    });
  });
}

function timed(word: string, startMs: number, endMs: number) {
  return { word, startTime: durationFromMs(startMs), endTime: durationFromMs(endMs) };
}

function textsOf(segments: readonly Segment[]): string[] {
  return segments.map(({ words, speakerId }) => {
    const text = words.map(({ word }) => word).join("");
    return (speakerId === "" ? "" : `${speakerId}: `) + text.trim();
  });
}

const all = { formats: true, punctuation: true, masksProfanity: false };

async function written(languageCode: string, ...texts: readonly string[]): Promise<string[]> {
  return textsOf(await writeSegments(segmentsOf(...texts), { languageCode, ...all }));
}

test("writeSegments() continues a sentence and a number in the next segment without a pause", async () => {
  const rows: [language: string, spoken: string[], expected: string[]][] = [
    [
      "is-IS",
      ["ég kem", "á morgun", "700 hvað er klukkan"],
      ["Ég kem", "á morgun.", "Hvað er klukkan?"],
    ],
    [
      "is-IS",
      ["það kostar tvö hundruð", "og fimmtíu krónur í dag"],
      ["Það kostar 250", "kr. í dag."],
    ],
    // A pause ends both.
    ["is-IS", ["það kostar tvö hundruð", "700 fimmtíu komu"], ["Það kostar 200.", "50 komu."]],
    // After "og" a sentence continues even so.
    ["is-IS", ["ég fór og", "900 hann kom"], ["Ég fór og", "hann kom."]],
    ["en-US", ["it costs two hundred and", "fifty dollars"], ["It costs $250."]],
    [
      "en-US",
      ["we met on", "january third at the station"],
      ["We met on", "January 3 at the station."],
    ],
  ];
  for (const [language, spoken, expected] of rows) {
    assert.deepEqual(await written(language, ...spoken), expected);
  }
});

test("writeSegments() joins nothing that two speakers say", async () => {
  const spoken = ["1: það kostar tvö hundruð", "2: og fimmtíu komu", "2: í dag"];
  assert.deepEqual(await written("is-IS", ...spoken), [
    "1: Það kostar 200.",
    "2: Og 50 komu",
    "2: í dag.",
  ]);
});

test("writeSegments() gives a number the span, the lowest confidence and the spoken form of its words", async () => {
  const [segment] = segmentsOf("kostar tvö hundruð og fimmtíu krónur");
  for (const [at, word] of (segment?.words ?? []).entries()) word.confidence = 0.9 - at / 10;
  const found = await writeSegments(segment ? [segment] : [], { languageCode: "is-IS", ...all });
  const words = found.flatMap((each) => each.words);
  assert.deepEqual(
    words.map(({ word, spoken, confidence, startTime, endTime }) => ({
      word,
      spoken,
      confidence,
      ms: [startTime, endTime].map((time) => time && msOfDuration(time)),
    })),
    [
      { word: "Kostar ", spoken: undefined, confidence: 0.9, ms: [50, 350] },
      { word: "250 ", spoken: "tvö hundruð og fimmtíu", confidence: 0.5, ms: [400, 1750] },
      { word: "kr. ", spoken: "krónur", confidence: 0.4, ms: [1800, 2100] },
    ],
  );
});

test("writeSegments() masks without writing, and leaves other languages as they are", async () => {
  const masking = { formats: false, punctuation: false, masksProfanity: true };
  const damned = segmentsOf("this is a damn good idea");
  assert.deepEqual(textsOf(await writeSegments(damned, { languageCode: "en-US", ...masking })), [
    "this is a d*** good idea",
  ]);
  const german = segmentsOf("das kostet zwei hundert", "700 euro");
  assert.deepEqual(await writeSegments(german, { languageCode: "de-DE", ...all }), german);
});

test("words with estimated times have no pauses: each segment ends a sentence, and numbers stay marked", async () => {
  const segments = segmentsOf("það kostar", "tvö hundruð krónur");
  for (const word of segments.flatMap(({ words }) => words)) word.estimatedTimes = true;
  const found = await writeSegments(segments, { languageCode: "is-IS", ...all });
  assert.deepEqual(textsOf(found), ["Það kostar.", "200 kr."]);
  assert.ok(found.every(({ words }) => words.every((word) => word.estimatedTimes)));
});

const spokenTexts = fc.array(
  fc
    .array(
      fc.constantFrom(
        ..."tvö hundruð og fimmtíu krónur ég kem tuttugasta fyrsta janúar hálf þrjú klukkan er hvað Jón prósent 60 250 600".split(
          " ",
        ),
      ),
      { minLength: 1, maxLength: 12 },
    )
    .chain((words) =>
      fc.constantFrom("", "1: ", "2: ").map((speaker) => `${speaker}${words.join(" ")}`),
    ),
  { maxLength: 12 },
);

test("the spoken forms of written segments are exactly the words before, with their times", async () => {
  await fc.assert(
    fc.asyncProperty(spokenTexts, async (texts) => {
      const before = segmentsOf(...texts).filter(({ words }) => words.length > 0);
      const after = await writeSegments(before, { languageCode: "is-IS", ...all });
      const plain = before.flatMap(({ words, speakerId }) =>
        words.map((word) => ({ ...word, speakerId })),
      );
      let at = 0;
      for (const { words, speakerId } of after) {
        for (const { word, spoken, startTime, endTime } of words) {
          const count = spoken?.split(" ").length ?? 1;
          const own = plain.slice(at, (at += count));
          const said = own.map((each) => each.word.trim()).join(" ");
          if (spoken === undefined) {
            assert.equal(
              word
                .trim()
                .toLowerCase()
                .replace(/[.,?]$/, ""),
              said.toLowerCase(),
            );
          } else assert.equal(spoken, said);
          assert.deepEqual([startTime, endTime], [own[0]?.startTime, own.at(-1)?.endTime]);
          assert.ok(own.every((each) => each.speakerId === speakerId));
        }
      }
      assert.equal(at, plain.length);
      assert.deepEqual([...checkSegments(after)], []);
    }),
  );
});
