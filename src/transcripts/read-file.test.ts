import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { create } from "@bufbuild/protobuf";
import { TranscriptMetadataSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkTranscript } from "./check-transcript.ts";
import { defaultOptionsOf } from "./export-options.ts";
import { readFile } from "./read-file.ts";
import { packSegments, textLength, unpackSegments } from "./segments.ts";
import { spokenJson, spokenSegments, type SpokenSegment } from "./spoken.ts";
import { importFormats } from "./import-formats.ts";
import { subtitleFormats } from "./subtitles/read-subtitles.ts";
import { subtitlesOf } from "../cues/subtitles.ts";
import { unpackedJson, writeFile } from "./write-file.ts";

const time = "00:00:01,000 --> 00:00:02,000";
const names = new Map<string, string>();

test("a file that can be read becomes a transcript that a caller could have created", async () => {
  const part = fc.constantFrom(
    ..."\n|\n\n|<v A>|<v B>|</v>|ab cd|þ|\0|\u0085|\v|&#7;|&#xd800;|😀|\u00a0|<00:00:01.500>".split(
      "|",
    ),
    "x".repeat(2500),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
      const reading = readFile({
        content: `WEBVTT\n\n${time}\n${parts.join("")}`,
        format: "VTT",
        names,
      });
      if ("problem" in reading) {
        assert.match(reading.problem, /^line \d+: times such as/);
        return;
      }
      const { text } = reading;
      const segments = await unpackSegments(text);
      const metadata = create(TranscriptMetadataSchema);
      assert.deepEqual([...checkTranscript(metadata, [], segments)], []);
      assert.deepEqual((await packSegments(segments)).sha256, text.sha256);
      assert.deepEqual(textLength(segments), { chars: text.textChars, bytes: text.textBytes });
    }),
    { numRuns: 300 },
  );
});

const words = fc.array(
  fc.record({
    text: fc.oneof(
      { weight: 5, arbitrary: fc.stringMatching(/^[a-zþ]{1,9}[,.]?$/) },
      fc.constantFrom("-->", "<b>", "a<b>c", "&amp;", "&", "{\\an8}", "1", "👩‍👧", "WEBVTT", "NOTE"),
    ),
    gapMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3000)),
    ms: fc.integer({ min: 40, max: 900 }),
  }),
  { minLength: 1, maxLength: 40 },
);
const speakers = fc.constantFrom("", "a", "b");

test("an exported file imports to the same text, speakers, and times of every cue", () => {
  const draft = fc.array(fc.record({ words, speakerId: speakers }), { maxLength: 4 });
  fc.assert(
    fc.property(draft, fc.constantFrom(...subtitleFormats), (drafts, format) => {
      let ms = 0;
      const segments = drafts.map(({ words, speakerId }) => {
        const startMs = ms;
        const spoken = words.map(({ text, gapMs, ms: lengthMs }) => {
          const start = ms + gapMs;
          ms = start + lengthMs;
          return { text: `${text} `, startMs: start, endMs: ms };
        });
        return { startMs, endMs: ms, speakerId, words: spoken };
      });
      const json = Buffer.from(spokenJson(segments));
      const file = writeFile({
        format,
        segments: { jsonZstd: zstdCompressSync(json), jsonBytes: json.length },
        names: new Map([["a", "Anna & <Co>"]]),
        recordingMs: null,
        title: "",
        languageCode: "is-IS",
        options: defaultOptionsOf(format),
      });
      assert.ok(file);
      const namesById = new Map([["a", "Anna & <Co>"]]);
      const reading = readFile({ content: Buffer.from(file).toString(), format, names: namesById });
      assert.ok("text" in reading);
      const read = spokenSegments(unpackedJson(reading.text));
      const cues = subtitlesOf(segments);
      const timesOf = (list: readonly { startMs: number; endMs: number }[]) =>
        list.map(({ startMs, endMs }) => [startMs, endMs]);
      assert.deepEqual(timesOf(read), timesOf(cues));
      const textOf = (list: readonly SpokenSegment[]) =>
        list.flatMap(({ words }) => words.map(({ text }) => text)).join("");
      assert.equal(textOf(read), textOf(segments).trim());
      const nameOf = (id: string) => reading.names.get(id) ?? id;
      if (format === "VTT") {
        assert.deepEqual(
          read.map(({ speakerId }) => nameOf(speakerId)),
          cues.map(({ speakerId }) => namesById.get(speakerId) ?? speakerId),
        );
      }
    }),
    { numRuns: 200 },
  );
});

test("a cue with more words than a transcript can have is refused", () => {
  const reading = readFile({
    content: `${time}\n${"a ".repeat(300_000)}`,
    format: "SRT",
    names,
  });
  assert.deepEqual(reading, { problem: "has 300000 words; at most 200000 are allowed" });
});

test("a hostile file is read in time that is linear in its length", () => {
  const long = 600_000;
  const rows = [
    `${time}\nA\n\n1\n1:${"1".repeat(long)}`,
    `${" ".repeat(long)}x`,
    `${time}\n${"<a".repeat(long / 2)}`,
    `${time}\n${"{\\".repeat(long / 2)}`,
    `${time}\n${"&".repeat(long)}`,
    `${time}\n${"1\n\n".repeat(long / 3)}`,
    `${time}\n${"\u00a0 ".repeat(long / 2)}`,
    `WEBVTT\n\n${time}\n${"<".repeat(long)}`,
    `WEBVTT\n\n${"NOTE\n\n".repeat(long / 6)}`,
    "[0:00]".repeat(long / 6),
    `${"a".repeat(50)}:\n\n`.repeat(long / 60),
    "[".repeat(long),
    `{"segments":[${"{},".repeat(long / 3)}{}]}`,
    `{"segments":[${'{"startTime":"1s"},\n'.repeat(long / 20)}1]}`,
  ];
  for (const content of rows) {
    for (const format of importFormats) {
      const reading = readFile({ content, format, names });
      assert.ok("problem" in reading || reading.text.jsonBytes > 0);
    }
  }
});
