import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TranscriptSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { readJson } from "../transcoding/read-json.ts";
import { checkSegments } from "./check-segments.ts";
import { readPlainSegments } from "./read-plain-segments.ts";
import { segmentsJson, type PlainSegment } from "./segments.ts";

/** Returns the outcome of segments: the JSON that is stored, or the first violation. */
function outcomeOf(segments: readonly PlainSegment[]): string {
  const [violation] = checkSegments(segments);
  return violation ? JSON.stringify(violation) : segmentsJson(segments);
}

/**
 * Returns the outcome of readJson() for the JSON of a list of segments, or undefined if readJson()
 * refuses the JSON.
 */
function general(json: string): string | undefined {
  try {
    return outcomeOf(readJson(TranscriptSchema, `{"segments":${json}}`).segments);
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

function plain(json: string): string | undefined {
  const segments = readPlainSegments(Buffer.from(json));
  return segments && outcomeOf(segments);
}

/** A string as clients write it, with more or fewer escapes. */
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

/** An object whose members are in any order, with any whitespace. */
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
        confidence: fc.constantFrom("0", "1", "0.5", "0.8529999852180481", "1e-3", "-0", "1.0"),
        spoken: textJson(fc.string({ unit: "binary", maxLength: 8 }).filter(hasNoControl)),
        estimatedTimes: fc.constantFrom("true", "false"),
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

test("readPlainSegments() and readJson() return the same segments for the form that clients write", () => {
  let good = 0;
  fc.assert(
    fc.property(listJson, (json) => {
      // Some words begin before their predecessor, which both functions report.
      const read = plain(json);
      assert.equal(read, general(json), json);
      if (read?.startsWith("[") === true) good += 1;
    }),
    { numRuns: 1_000 },
  );
  assert.ok(good > 400, `${good} of 1000`);
});

test("readPlainSegments() accepts no JSON that readJson() refuses", () => {
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
      // A surrogate pair that was cut in half cannot be sent.
      const sent = text.toWellFormed();
      const read = plain(sent);
      if (read !== undefined) assert.equal(read, general(sent), sent);
    }),
    { numRuns: 3_000 },
  );
});

const one = (word: string, segment = ""): string =>
  `[{"startTime":"1s","endTime":"2s","words":[${word}]${segment}}]`;
const word = (text: string): string => one(`{"startTime":"1s","endTime":"2s","word":${text}}`);

test("readPlainSegments() leaves other forms to readJson()", () => {
  const rows: [name: string, json: string][] = [
    ["no list", "{}"],
    ["text after the list", "[] ]"],
    ["null as the list", "null"],
    ["null as a segment", "[null]"],
    ["null as the words", '[{"startTime":"1s","endTime":"2s","words":null}]'],
    ["null as a time", '[{"startTime":null,"endTime":"2s"}]'],
    ["a number as a time", '[{"startTime":1,"endTime":"2s"}]'],
    ["a negative time", '[{"startTime":"-1s","endTime":"1s"}]'],
    ["ten digits of a fraction", '[{"startTime":"0.0000000001s","endTime":"1s"}]'],
    ["a point without digits", '[{"startTime":"0.s","endTime":"1s"}]'],
    ["a name in snake_case", '[{"start_time":"1s","endTime":"2s"}]'],
    ["an unknown name", one('{"startTime":"1s","endTime":"2s","sure":1}')],
    ["__proto__", one('{"startTime":"1s","endTime":"2s","__proto__":{}}')],
    ["a list among the words", one("[]")],
    ["a number as a word", word("1")],
    ["null as a confidence", one('{"startTime":"1s","endTime":"2s","confidence":null}')],
    ["a text as a confidence", one('{"startTime":"1s","endTime":"2s","confidence":"0.5"}')],
    ["a number as a flag", one('{"startTime":"1s","endTime":"2s","estimatedTimes":1}')],
    ["null as a flag", one('{"startTime":"1s","endTime":"2s","estimatedTimes":null}')],
    ["null as the spoken words", one('{"startTime":"1s","endTime":"2s","spoken":null}')],
    ["a number as the spoken words", one('{"startTime":"1s","endTime":"2s","spoken":1}')],
    ["a number as a speaker", one("", ',"speakerId":1')],
    ["half a surrogate pair", word(String.raw`"\ud83c"`)],
    ["two high surrogates", word(String.raw`"\ud83c\ud83c"`)],
    ["a low surrogate alone", word(String.raw`"\udfa7"`)],
    ["a raw newline", word('"\n"')],
    ["invalid hex digits", word('"\\u00\u0010\u0010"')],
    ["more values than a list at its limits", `[${"[],".repeat(1_400_000)}[]]`],
  ];
  for (const [name, json] of rows) assert.equal(plain(json), undefined, name);
});

test("segments that break a rule have the same violations whichever function reads them", () => {
  const rows: [name: string, json: string][] = [
    ["no times", "[{}]"],
    ["a segment that runs backwards", '[{"startTime":"2s","endTime":"1s"}]'],
    ["a time past 1000 hours", '[{"startTime":"1s","endTime":"3600000.000000001s"}]'],
    [
      "segments out of order",
      '[{"startTime":"2s","endTime":"3s"},{"startTime":"1s","endTime":"3s"}]',
    ],
    ["a word before its segment", one('{"startTime":"0.9s","endTime":"2s"}')],
    ["a word past its segment", one('{"startTime":"1s","endTime":"2.1s"}')],
    ["a word without an end", one('{"startTime":"1s"}')],
    ["a word of 1001 characters", word(`"${"🎧".repeat(1001)}"`)],
    ["a control character", word(String.raw`"\u0007"`)],
    ["a negative confidence", one('{"startTime":"1s","endTime":"2s","confidence":-0.001}')],
    ["a confidence above 1", one('{"startTime":"1s","endTime":"2s","confidence":1.001}')],
    ["a control character as spoken", one('{"startTime":"1s","endTime":"2s","spoken":"\\u0007"}')],
    ["U+0080", word('"\u0080"')],
    ["DEL", word('"\u007f"')],
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
  for (const [name, json] of rows) {
    const read = plain(json);
    assert.ok(read?.startsWith('{"field"'), name);
    assert.equal(read, general(json), name);
  }
});

test("readPlainSegments() reads segments at their limits", () => {
  const times = '"startTime":"3600000s","endTime":"3600000.000s"';
  const rows: [name: string, json: string][] = [
    ["1000 hours", `[{${times}}]`],
    ["1000 characters of two units", word(`"${"🎧".repeat(1000)}"`)],
    [
      "a time twice, of which the last counts",
      one('{"startTime":"0s","startTime":"1s","endTime":"2s"}'),
    ],
    ["a pair as escapes, in both cases", word(String.raw`"\uD83c\uDFa7\u00e9\u0041"`)],
    ["tab and newline, escaped in each way", word(String.raw`"\t\n\u0009\u000A\u0022\u005C\/"`)],
    [
      "200,000 words with all their fields",
      one(
        `${'{"startTime":"1s","endTime":"1s","word":"a ","confidence":0.5,"spoken":"b","estimatedTimes":true},'.repeat(199_999)}{"startTime":"1s","endTime":"1s"}`,
      ),
    ],
  ];
  for (const [name, json] of rows) {
    const read = plain(json);
    assert.ok(read?.startsWith("["), name);
    assert.equal(read, general(json), name);
  }
});
