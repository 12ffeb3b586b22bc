import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "../std/duration.ts";
import { ServiceError } from "../std/service-error.ts";
import {
  SegmentSchema,
  TranscriptMetadata_FileType as FileType,
  TranscriptMetadataSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkTranscript } from "./check-transcript.ts";
import { throwViolations } from "./check-values.ts";
import { callerFields } from "./merge.ts";

type MetadataInit = Omit<MessageInitShape<typeof TranscriptMetadataSchema>, "$typeName">;
type SegmentInit = MessageInitShape<typeof SegmentSchema>;

function violationsOf(metadata: MetadataInit, segments: SegmentInit[] = []): string[] {
  const checked = checkTranscript(
    create(TranscriptMetadataSchema, { fileType: 1, languageCode: "is-IS", ...metadata }),
    callerFields,
    segments.map((segment) => create(SegmentSchema, segment)),
  );
  return Array.from(checked, ({ field, description }) => `${field}: ${description}`);
}

/** Returns a time span in milliseconds. */
function span(startMs: number, endMs: number) {
  return { startTime: durationFromMs(startMs), endTime: durationFromMs(endMs) };
}

function word(startMs: number, endMs: number, word = "x ") {
  return { ...span(startMs, endMs), word };
}

test("checkTranscript() accepts valid transcripts", () => {
  const rows: [MetadataInit, SegmentInit[]][] = [
    [{}, []],
    [
      { subject: "a\nb", description: "", keywords: [""], additionalMetadata: { __proto__: "x" } },
      [],
    ],
    [
      { subject: "🎧".repeat(1000), keywords: Array.from({ length: 100 }, () => "k".repeat(100)) },
      [],
    ],
    [{ speakers: { "": { fullName: "" } } }, []],
    [{}, [span(0, 0)]],
    [{}, [{ ...span(0, 5), words: [word(0, 5), word(0, 1), word(0, 0, "")] }]],
    [{}, [{ ...span(0, 5000) }, { ...span(1000, 2000) }, { ...span(1000, 9000) }]],
    [{}, [{ ...span(0, 5), words: [word(0, 5, `\t\n${"þ".repeat(998)}`)] }]],
    [{}, [{ ...span(3_599_999_000, 3_600_000_000) }]],
  ];
  for (const [metadata, segments] of rows) assert.deepEqual(violationsOf(metadata, segments), []);
});

test("checkTranscript() accepts the language codes of BCP 47", () => {
  const good = [
    "is",
    "is-IS",
    "is-IS-x-exp",
    "en-US",
    "zh-Hant-TW",
    "sl-rozaj-biske",
    "x-klingon",
    "und",
    "EN-us",
  ];
  const bad = [
    "is_IS",
    "icelandic-",
    "-",
    "i",
    "is IS",
    "is-IS-",
    "a".repeat(9),
    `is-${"x-a".repeat(50)}`,
    "þ",
  ];
  for (const languageCode of good)
    assert.deepEqual(violationsOf({ languageCode }), [], languageCode);
  for (const languageCode of bad) {
    const [violation, ...more] = violationsOf({ languageCode });
    assert.match(violation ?? "", /^metadata\.languageCode: ".* BCP 47/, languageCode);
    assert.equal(more.length, 0);
  }
  assert.deepEqual(violationsOf({ languageCode: "" }), [
    "metadata.languageCode: is required, for example is-IS",
  ]);
});

test("checkTranscript() reports every violation in metadata", () => {
  const metadata = {
    fileType: FileType.TYPE_UNSPECIFIED,
    languageCode: "",
    subject: "s".repeat(1001),
    description: `\0${"d".repeat(9999)}`,
    keywords: Array.from({ length: 101 }, (_, index) =>
      index === 7 ? "k".repeat(101) : "\ud800".slice(index > 0 ? 1 : 0),
    ),
    additionalMetadata: { ["k".repeat(101)]: "", v: "v".repeat(2001) },
    speakers: { S1: { fullName: "\0" } },
  };
  assert.deepEqual(violationsOf(metadata), [
    "metadata.fileType: AUDIO or VIDEO is required",
    "metadata.languageCode: is required, for example is-IS",
    "metadata.subject: has 1001 characters; at most 1000 are allowed",
    "metadata.description: has a NUL character",
    "metadata.keywords: has 101 keywords; at most 100 are allowed",
    "metadata.keywords[0]: has an unpaired surrogate (invalid Unicode)",
    "metadata.keywords[7]: has 101 characters; at most 100 are allowed",
    `metadata.additionalMetadata["${"k".repeat(56)}...] (key): has 101 characters; at most 100 are allowed`,
    'metadata.additionalMetadata["v"]: has 2001 characters; at most 2000 are allowed',
    'metadata.speakers["S1"].fullName: has a NUL character',
  ]);
  const entries = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, ""]));
  assert.deepEqual(violationsOf({ additionalMetadata: entries }), [
    "metadata.additionalMetadata: has 101 entries; at most 100 are allowed",
  ]);
});

test("checkTranscript() reports every violation in times and words", () => {
  const rows: [segments: SegmentInit[], violations: string[]][] = [
    [
      [{ words: [{}] }],
      ["startTime", "endTime", "words[0].startTime", "words[0].endTime"].map(
        (field) => `segments[0].${field}: is required, for example "1.500s"`,
      ),
    ],
    [[span(2, 1)], ["segments[0].endTime: is before its startTime"]],
    [[span(-1, 1)], ["segments[0].startTime: is negative"]],
    [[span(0, 3_600_000_001)], ["segments[0].endTime: is after 1000 hours"]],
    [
      [{ ...span(0, 1), endTime: { seconds: 2n ** 62n, nanos: 0 } }],
      ["segments[0].endTime: is after 1000 hours"],
    ],
    [
      [{ ...span(0, 1), endTime: { seconds: 1n, nanos: 1_000_000_000 } }],
      ["segments[0].endTime: has nanos above 999999999"],
    ],
    [
      [span(5, 6), span(4, 7), span(4, 5)],
      ["segments[1].startTime: is before that of the previous segment"],
    ],
    [
      [{ ...span(10, 20), words: [word(9, 21), word(12, 11), word(15, 16), word(14, 15)] }],
      [
        "segments[0].words[0].startTime: is before the start of its segment",
        "segments[0].words[0].endTime: is after the end of its segment",
        "segments[0].words[1].endTime: is before its startTime",
        "segments[0].words[3].startTime: is before that of the previous word",
      ],
    ],
    [
      [
        {
          ...span(0, 9),
          words: [
            word(0, 1, "a\rb"),
            word(0, 1, "\u0085"),
            word(0, 1, "\0"),
            word(0, 1, "\udfff"),
            word(0, 1, "w".repeat(1001)),
          ],
          speakerId: "s".repeat(101),
        },
      ],
      [
        "segments[0].speakerId: has 101 characters; at most 100 are allowed",
        ...[0, 1, 2].map(
          (at) =>
            `segments[0].words[${at}].word: has a control character; only tab and newline are allowed`,
        ),
        "segments[0].words[3].word: has an unpaired surrogate (invalid Unicode)",
        "segments[0].words[4].word: has 1001 characters; at most 1000 are allowed",
      ],
    ],
  ];
  for (const [segments, violations] of rows)
    assert.deepEqual(violationsOf({}, segments), violations);
});

test("checkTranscript() reports confidences outside 0 to 1", () => {
  const good = [undefined, 0, -0, 1e-9, 0.5, 1];
  const words = good.map((confidence) => ({ ...word(0, 1), confidence }));
  assert.deepEqual(violationsOf({}, [{ ...span(0, 1), words }]), []);
  for (const confidence of [-1e-9, -1, 1.000_001, 100, NaN, Infinity, -Infinity]) {
    const wrong = [word(0, 1), { ...word(0, 1), confidence }];
    assert.deepEqual(violationsOf({}, [{ ...span(0, 1), words: wrong }]), [
      `segments[0].words[1].confidence: must be 0 to 1, not ${confidence}`,
    ]);
  }
});

test("checkTranscript() compares times to the nanosecond", () => {
  const at = (seconds: bigint, nanos: number) => ({ seconds, nanos });
  const segment = { startTime: at(3_000_000n, 1), endTime: at(3_000_000n, 2) };
  assert.deepEqual(violationsOf({}, [segment]), []);
  assert.deepEqual(violationsOf({}, [{ ...segment, endTime: at(3_000_000n, 0) }]), [
    "segments[0].endTime: is before its startTime",
  ]);
});

test("checkTranscript() limits the numbers of segments and words", () => {
  const segments = Array.from({ length: 20_001 }, () => span(0, 1));
  assert.deepEqual(violationsOf({}, segments), [
    "segments: has 20001 segments; at most 20000 are allowed",
  ]);
  const words = Array.from({ length: 200_001 }, () => word(0, 1, "x"));
  assert.deepEqual(violationsOf({}, [{ ...span(0, 1), words }]), [
    "segments: has 200001 words in total; at most 200000 are allowed",
  ]);
});

test("throwViolations() reports at most a hundred violations", () => {
  throwViolations([]);
  let made = 0;
  const endless = (function* () {
    for (;;) yield { field: `f${(made += 1)}`, description: "is wrong" };
  })();
  assert.throws(
    () => {
      throwViolations(endless);
    },
    (error) => error instanceof ServiceError && error.violations.length === 100,
  );
  assert.equal(made, 100);
});
