import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { DescMessage } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  RecognizeRequestSchema,
  StreamingRecognizeRequestSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { TranscriptSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { MSchema } from "../../test/gen/transcoding_pb.ts";
import { readJson } from "./read-json.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { runs } from "../../test/fixtures/property-runs.ts";

function refused(schema: DescMessage, text: string | Uint8Array): ServiceError {
  try {
    readJson(schema, text);
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, "invalid_argument");
    return error;
  }
  return assert.fail(`${text.slice(0, 60).toString()} was read`);
}

function violations(schema: DescMessage, json: unknown): string[] {
  const { violations } = refused(schema, JSON.stringify(json));
  return violations.map(({ field, description }) => `${field}: ${description}`);
}

test("readJson() accepts every form of proto3 JSON that docs/api.md names", () => {
  const forms = [
    { config: { encoding: "LINEAR16", sampleRateHertz: 8000 }, audio: { content: "+/8=" } },
    { config: { encoding: 1, sample_rate_hertz: "8000" }, audio: { content: "-_8" } },
    {
      config: { encoding: "LINEAR16", sampleRateHertz: 8e3 },
      audio: { content: "-_8=", uri: null },
    },
  ];
  const [plain] = forms.map((form) =>
    toJson(RecognizeRequestSchema, readJson(RecognizeRequestSchema, JSON.stringify(form))),
  );
  for (const form of forms) {
    const text = JSON.stringify(form);
    assert.deepEqual(toJson(RecognizeRequestSchema, readJson(RecognizeRequestSchema, text)), plain);
    const bytes = readJson(RecognizeRequestSchema, Buffer.from(text));
    assert.deepEqual(toJson(RecognizeRequestSchema, bytes), plain);
  }
});

test("readJson() ignores an output-only member of a oneof next to another member", () => {
  const sourceOf = (metadata: object) =>
    readJson(TranscriptSchema, JSON.stringify({ metadata })).metadata?.originalSource;
  const dictation = { case: "dictation", value: true };
  const uri = { case: "originalUri", value: "http://a/" };
  const rows: [metadata: object, source: object][] = [
    [{ originalUri: "http://a/" }, uri],
    [{ originalUri: "http://a/", dictation: true }, dictation],
    [{ dictation: true, original_uri: "http://a/" }, dictation],
    [{ originalUri: "http://a/", originalFilename: "a.mp3" }, uri],
  ];
  for (const [metadata, source] of rows) assert.deepEqual(sourceOf(metadata), source);
});

test("readJson() reads null as unset, even next to another member of its oneof", () => {
  assert.deepEqual(readJson(MSchema, '{"om":null,"os":"x"}').choice, { case: "os", value: "x" });
  assert.deepEqual(readJson(MSchema, '{"os":"x","ots":null}').choice, { case: "os", value: "x" });
  const nulls = Object.fromEntries(MSchema.fields.map((field) => [field.jsonName, null]));
  const { val, nv, pa, pb, ...rest } = nulls;
  assert.deepEqual([val, nv, pa, pb], [null, null, null, null]);
  assert.deepEqual(readJson(MSchema, JSON.stringify(rest)), readJson(MSchema, "{}"));
});

test("readJson() lists all violations with their paths", () => {
  const transcript = {
    metadata: {
      fileType: "PDF",
      keywords: ["x", 1, null],
      additionalMetadata: { a: 1, b: null },
      speakers: { "speaker 1": 5, two: { nom: "x" } },
      originalCharLength: "many",
      dictation: "yes",
    },
    segments: [
      { startTime: "1s", words: [{ word: "a" }, { word: 2 }, { startTime: "one" }] },
      "segment",
    ],
    version: { creation_time: "2001-02-29T00:00:00Z" },
    Name: "x",
  };
  assert.deepEqual(violations(TranscriptSchema, transcript), [
    'metadata.fileType: expected one of TYPE_UNSPECIFIED, AUDIO, VIDEO, found "PDF"',
    "metadata.keywords[1]: expected a string, found 1",
    "metadata.keywords[2]: must not be null",
    'metadata.additionalMetadata["a"]: expected a string, found 1',
    'metadata.additionalMetadata["b"]: must not be null',
    'metadata.speakers["speaker 1"]: expected an object, found 5',
    'metadata.speakers["two"].nom: SpeakerInfo has no such field',
    'metadata.originalCharLength: expected a whole number, found "many"',
    'metadata.dictation: expected true or false, found "yes"',
    "segments[0].words[1].word: expected a string, found 2",
    'segments[0].words[2].startTime: expected a duration such as "1.5s", found "one"',
    'segments[1]: expected an object, found "segment"',
    'version.creationTime: expected a date and time that exist, found "2001-02-29T00:00:00Z"',
    "Name: Transcript has no such field",
  ]);
});

test("readJson() refuses JSON that is not a message", () => {
  const rows: [schema: DescMessage, json: unknown, violations: string[]][] = [
    [
      StreamingRecognizeRequestSchema,
      { audioContent: "", finalizeUtterance: true },
      ["finalizeUtterance: cannot be given together with audioContent"],
    ],
    [
      RecognizeRequestSchema,
      { config: { sampleRateHertz: 1, sample_rate_hertz: 2 } },
      ["config.sampleRateHertz: given twice, also as sample_rate_hertz"],
    ],
    [
      RecognizeRequestSchema,
      { audio: { content: "A?==" } },
      ['audio.content: expected base64, found "A?=="'],
    ],
    [
      RecognizeRequestSchema,
      { audio: { content: 5 } },
      ["audio.content: expected base64, found 5"],
    ],
    [RecognizeRequestSchema, { config: [] }, ["config: expected an object, found []"]],
    [TranscriptSchema, { segments: {} }, ["segments: expected a list, found {}"]],
    [
      TranscriptSchema,
      { uri: "\ud800" },
      ['uri: expected a string without unpaired surrogates, found "\\ud800"'],
    ],
    [
      MSchema,
      { im: { x: 1, 5: "y" }, bm: { yes: "" } },
      [
        'im["5"]: expected a whole number, found "y"',
        'im["x"]: expected a whole number, found "x" as key',
        'bm["yes"]: expected true or false, found "yes" as key',
      ],
    ],
    [
      MSchema,
      { st: [], lv: {}, mask: "a_b", wi32: "x", wby: "?" },
      [
        "st: expected an object, found []",
        "lv: expected a list, found {}",
        'mask: expected field paths in lowerCamelCase, separated by commas, found "a_b"',
        'wi32: expected a whole number, found "x"',
        'wby: expected base64, found "?"',
      ],
    ],
    [
      MSchema,
      { any: { "@type": "type.googleapis.com/no.Such" } },
      [
        'any: expected an "@type" that is known here, found {"@type":"type.googleapis.com/no.Such"}',
      ],
    ],
    [
      MSchema,
      { constructor: 1, toString: 2 },
      ["constructor: M has no such field", "toString: M has no such field"],
    ],
  ];
  for (const [schema, json, expected] of rows) assert.deepEqual(violations(schema, json), expected);
  assert.deepEqual(refused(MSchema, '{"__proto__":{"s":"x"}}').violations, [
    { field: "__proto__", description: "M has no such field" },
  ]);
  assert.equal(refused(MSchema, "[5]").message, "expected an object, found [5]");
});

test("readJson() shows 60 characters of a refused value and stops at 100 violations", () => {
  const long = "x".repeat(100_000);
  const error = refused(MSchema, JSON.stringify({ i32: long, [long]: 1, items: long }));
  for (const { field, description } of error.violations) {
    assert.ok(field.length <= 60 && description.length < 120);
  }
  assert.equal(error.violations.length, 3);
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`, 1]));
  assert.equal(refused(MSchema, JSON.stringify({ ...many, ri: [] })).violations.length, 100);
});

/**
 * NullValue is excluded because it is null in JSON, whatever its number, and null is read as unset.
 */
const namesOfM = MSchema.fields
  .filter(({ name }) => name !== "nv")
  .flatMap((field) => [field.name, field.jsonName]);

/** JSON that is close to the message: its field names, with valid and invalid values. */
const closeToM = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      1e40,
      "",
      "1",
      "x",
      "RED",
      "1s",
      "2026-01-01T00:00:00Z",
      "AQI=",
      "a,b",
      [],
      {},
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
    fc.double(),
  ),
  value: fc.oneof(
    { weight: 5, arbitrary: tie("leaf") },
    { weight: 1, arbitrary: tie("message") },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
  ),
  message: fc.dictionary(
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc.constantFrom(...namesOfM),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom("__proto__", "constructor", "1", "true", "@type", "nope"),
      },
    ),
    tie("value"),
    { maxKeys: 4 },
  ),
}));

test("readJson() throws only invalid_argument, and reads the same message as the library", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(closeToM.message, fc.jsonValue()), (json) => {
      const text = JSON.stringify(json);
      let message;
      try {
        message = readJson(MSchema, text);
      } catch (error) {
        assert.ok(error instanceof ServiceError, String(error));
        assert.equal(error.code, "invalid_argument");
        return;
      }
      read++;
      // The library refuses a oneof with another member that is null, but accepts everything else
      // that readJson() accepts.
      if (!text.includes("null")) assert.deepEqual(fromJson(MSchema, JSON.parse(text)), message);
      const again = readJson(MSchema, JSON.stringify(toJson(MSchema, message)));
      assert.deepEqual(again, message);
    }),
    { numRuns: runs(10_000) },
  );
  assert.ok(read > runs(1_000), `only ${read} were read`);
});

test("readJson() throws only invalid_argument for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      // One in 65,536 pairs of bytes is {}.
      if (/^\s*\{\s*\}\s*$/.test(Buffer.from(bytes).toString())) return;
      assert.ok(refused(MSchema, bytes).message.length > 0);
    }),
    { numRuns: runs(10_000) },
  );
});

test("readJson() reads or refuses 13 MB in about the time of JSON.parse()", () => {
  const zeros = `{"ri":[${"0,".repeat(6e6)}0]}`;
  const strings = `{"ri":[${'"x",'.repeat(3e6)}0]}`;
  const others = [
    `{"by":"${"A".repeat(13e6)}!"}`,
    `{"${"a".repeat(13e6)}":1}`,
    `{"d":"${"1".repeat(13e6)}"}`,
  ];
  const start = cpuMs();
  assert.equal(readJson(MSchema, zeros).ri.length, 6e6 + 1);
  assert.equal(refused(MSchema, strings).violations.length, 100);
  for (const text of others) refused(MSchema, text);
  const between = cpuMs();
  for (const text of [zeros, strings, ...others]) JSON.parse(text);
  const [ownMs, parseMs] = [between - start, cpuMs() - between];
  // It usually takes twice as long as JSON.parse().
  assert.ok(ownMs < 10 * parseMs, `${ownMs} ms, JSON.parse ${parseMs} ms`);
});
