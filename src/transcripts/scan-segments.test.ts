import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TranscriptSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { readJson } from "../transcoding/read-json.ts";
import { checkSegments } from "./check-transcript.ts";
import { scanSegments } from "./scan-segments.ts";
import { segmentsJson } from "./segments.ts";

/** What the general way makes of the JSON of a list of segments; undefined where it refuses it. */
function general(json: string): string | undefined {
  try {
    const { segments } = readJson(TranscriptSchema, `{"segments":${json}}`);
    return [...checkSegments(segments)].length === 0 ? segmentsJson(segments) : undefined;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

const scanned = (json: string): string | undefined => scanSegments(Buffer.from(json))?.toString();

/** As clients write a string: with more or fewer escapes. */
const textJson = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.constantFrom("plain", "ascii", "slash")).map(([text, style]) => {
    const json = JSON.stringify(text);
    if (style === "slash") return json.replaceAll("/", String.raw`\/`);
    if (style === "plain") return json;
    return json.replaceAll(
      /[\u0080-\uffff]/g,
      (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  });
const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");
const fraction = fc.constantFrom("", "", ".5", ".120", ".000", ".000001", ".123456789", ".10");

/** The members of an object in any order, with any space. */
function objectJson(members: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> {
  const names = Object.keys(members);
  return fc
    .tuple(
      fc.record(members, { requiredKeys: names.filter((name) => name.endsWith("Time")) }),
      space,
    )
    .chain(([values, space]) =>
      fc
        .shuffledSubarray(Object.entries(values), { minLength: Object.keys(values).length })
        .map((entries) => {
          const texts = entries.map(
            ([name, value]) => `${space}"${name}"${space}:${space}${value}${space}`,
          );
          return `{${texts.join(",")}}`;
        }),
    );
}

const timeJson = (second: number): fc.Arbitrary<string> =>
  fraction.map((fraction) => `"${second}${fraction}s"`);
const wordsJson = (second: number): fc.Arbitrary<string> =>
  fc
    .array(
      objectJson({
        startTime: timeJson(second),
        endTime: timeJson(second + 1),
        word: textJson(fc.string({ unit: "binary", maxLength: 8 }).filter(hasNoControl)),
      }),
      { maxLength: 3 },
    )
    .map((words) => `[${words.join(",")}]`);
const segmentJson = (second: number): fc.Arbitrary<string> =>
  objectJson({
    startTime: fc.constantFrom(`"${second}s"`, `"${second}.000s"`, `"0${second}.0s"`),
    endTime: timeJson(second + 2),
    words: wordsJson(second),
    speakerId: textJson(fc.string({ unit: "grapheme", maxLength: 10 })),
  });
const listJson = fc
  .tuple(space, segmentJson(0), segmentJson(7), segmentJson(3600), fc.nat(3))
  .map(([space, ...parts]) => {
    const segments = parts.slice(0, -1).slice(0, Number(parts.at(-1)));
    return `[${space}${segments.join(`,${space}`)}${space}]${space}`;
  });

function hasNoControl(text: string): boolean {
  return !/[^\P{Cc}\t\n]/u.test(text);
}

test("scanSegments() reads what clients write, to the same as the general way", () => {
  let read = 0;
  fc.assert(
    fc.property(listJson, (json) => {
      const expected = general(json);
      // Some words begin before the one before: neither takes them.
      assert.equal(scanned(json), expected, json);
      if (expected !== undefined) read += 1;
    }),
    { numRuns: 1_000 },
  );
  assert.ok(read > 400, `${read} of 1000`);
});

test("scanSegments() takes nothing that the general way refuses", () => {
  const pieces = [
    "",
    '"',
    "\\",
    ",",
    "}",
    "]",
    "{}",
    "[",
    "0",
    "s",
    "-",
    ":",
    "\u0000",
    "\u007f",
    "é",
  ];
  const long = [
    '"startTime":"1s",',
    '"x":1,',
    "null",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\u0085",
    "1e3",
  ];
  const mutation = fc.record({
    at: fc.nat(2_000),
    length: fc.nat(3),
    piece: fc.oneof(fc.constantFrom(...pieces), fc.constantFrom(...long)),
  });
  fc.assert(
    fc.property(listJson, fc.array(mutation, { minLength: 1, maxLength: 2 }), (json, mutations) => {
      let text = json;
      for (const { at, length, piece } of mutations) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + piece + text.slice(place + length);
      }
      // Cut in two, a pair is no text any more.
      const sent = text.toWellFormed();
      const read = scanned(sent);
      if (read !== undefined) assert.equal(read, general(sent), sent);
    }),
    { numRuns: 3_000 },
  );
});

const one = (word: string, segment = ""): string =>
  `[{"startTime":"1s","endTime":"2s","words":[${word}]${segment}}]`;
const word = (text: string): string => one(`{"startTime":"1s","endTime":"2s","word":${text}}`);

test("scanSegments() leaves to the general way what breaks a rule", () => {
  const rows: [name: string, json: string][] = [
    ["no list", "{}"],
    ["behind its end", "[] ]"],
    ["no times", "[{}]"],
    ["a segment that runs backwards", '[{"startTime":"2s","endTime":"1s"}]'],
    ["a negative time", '[{"startTime":"-1s","endTime":"1s"}]'],
    ["a time past 1000 hours", '[{"startTime":"1s","endTime":"3600000.000000001s"}]'],
    ["ten digits of a fraction", '[{"startTime":"0.0000000001s","endTime":"1s"}]'],
    ["a point without digits", '[{"startTime":"0.s","endTime":"1s"}]'],
    [
      "segments out of order",
      '[{"startTime":"2s","endTime":"3s"},{"startTime":"1s","endTime":"3s"}]',
    ],
    ["a word before its segment", one('{"startTime":"0.9s","endTime":"2s"}')],
    ["a word past its segment", one('{"startTime":"1s","endTime":"2.1s"}')],
    ["a word without an end", one('{"startTime":"1s"}')],
    ["a time twice", one('{"startTime":"1s","startTime":"1s","endTime":"2s"}')],
    ["a name that is not known", one('{"startTime":"1s","endTime":"2s","sure":1}')],
    ["a list in the words", one("[]")],
    ["a word of 1001 characters", word(`"${"🎧".repeat(1001)}"`)],
    ["a control character", word(String.raw`"\u0007"`)],
    ["U+0080", word('"\u0080"')],
    ["DEL", word('"\u007f"')],
    ["a raw newline", word('"\n"')],
    ["half a pair", word(String.raw`"\ud83c"`)],
    ["two first halves", word(String.raw`"\ud83c\ud83c"`)],
    ["the second half alone", word(String.raw`"\udfa7"`)],
    ["hex digits that are none", word('"\\u00\u0010\u0010"')],
    ["a speaker of 101 characters", one("", `,"speakerId":"${"x".repeat(101)}"`)],
    [
      "20,001 segments",
      `[${'{"startTime":"1s","endTime":"1s"},'.repeat(20_000)}{"startTime":"1s","endTime":"1s"}]`,
    ],
    [
      "200,001 words",
      one(
        `${'{"startTime":"1s","endTime":"1s"},'.repeat(200_000)}{"startTime":"1s","endTime":"1s"}`,
      ),
    ],
  ];
  for (const [name, json] of rows) assert.equal(scanned(json), undefined, name);
});

test("scanSegments() takes the most that is allowed", () => {
  const times = '"startTime":"3600000s","endTime":"3600000.000s"';
  const rows: [name: string, json: string][] = [
    ["1000 hours", `[{${times}}]`],
    ["1000 characters of two units", word(`"${"🎧".repeat(1000)}"`)],
    ["a pair as escapes, in both cases", word(String.raw`"\uD83c\uDFa7\u00e9\u0041"`)],
    ["tab and newline, escaped in each way", word(String.raw`"\t\n\u0009\u000A\u0022\u005C\/"`)],
    [
      "200,000 words",
      one(
        `${'{"startTime":"1s","endTime":"1s"},'.repeat(199_999)}{"startTime":"1s","endTime":"1s"}`,
      ),
    ],
  ];
  for (const [name, json] of rows) assert.equal(scanned(json), general(json), name);
});
