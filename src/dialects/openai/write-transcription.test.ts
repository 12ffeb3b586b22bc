import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpokenSegment } from "../../transcripts/spoken.ts";
import { diarizedSegments, verboseSegments, writeTranscription } from "./write-transcription.ts";

/** Returns a segment of words of 100 ms each. */
function segment(startMs: number, text: string, more: Partial<SpokenSegment> = {}): SpokenSegment {
  const words = text.split(" ").map((word, at) => ({
    text: `${word} `,
    startMs: startMs + 100 * at,
    endMs: startMs + 100 * at + 100,
  }));
  return { startMs, endMs: words.at(-1)?.endMs ?? startMs, speakerId: "", words, ...more };
}

const talk = {
  segments: [segment(500, "Góðan daginn."), segment(2_000, "Komið þið sæl.")],
  durationMs: 3_400,
};
const wish = { languageCode: "is-IS", granularities: new Set(["segment", "word"]) };

test("writeTranscription() writes json with the text and the seconds that were begun", () => {
  assert.deepEqual(JSON.parse(writeTranscription(talk, { ...wish, format: "json" })), {
    text: "Góðan daginn. Komið þið sæl.",
    usage: { type: "duration", seconds: 4 },
  });
});

test("writeTranscription() writes the words of verbose_json without spaces, in seconds", () => {
  const written = writeTranscription(talk, { ...wish, format: "verbose_json" });
  const { words, segments, language, duration } = JSON.parse(written);
  assert.deepEqual(words.slice(0, 3), [
    { word: "Góðan", start: 0.5, end: 0.6 },
    { word: "daginn.", start: 0.6, end: 0.7 },
    { word: "Komið", start: 2, end: 2.1 },
  ]);
  assert.deepEqual([segments.length, language, duration], [2, "icelandic", 3.4]);
});

test("verboseSegments() takes the mean confidence for the probabilities, where there is one", () => {
  const [first, second] = verboseSegments([
    segment(0, "a", { words: [0.5, 0.7].map((confidence) => ({ ...wordA, confidence })) }),
    segment(0, "a"),
  ]);
  assert.ok(Math.abs((first?.avg_logprob ?? 0) - Math.log(0.6)) < 1e-9);
  assert.equal(second?.avg_logprob, 0);
});

const wordA = { text: "a ", startMs: 0, endMs: 100 };

test("verboseSegments() shows text that repeats itself by its compression", () => {
  const ratioOf = (text: string) => verboseSegments([segment(0, text)])[0]?.compression_ratio ?? 0;
  assert.ok(ratioOf("við hittumst á kaffihúsinu við höfnina") < 1.2);
  assert.ok(ratioOf("og svo ".repeat(40).trim()) > 2.4);
});

test("diarizedSegments() names speakers A, B and after Z, AA, in the order of their speech", () => {
  const speakers = Array.from({ length: 28 }, (_, at) => `speaker-${at}`);
  const order = ["speaker-9", ...speakers];
  const found = diarizedSegments(order.map((speakerId) => segment(0, "já", { speakerId })));
  const names = found.map(({ speaker }) => speaker);
  assert.deepEqual(names.slice(0, 3), ["A", "B", "C"]);
  assert.equal(names[10], "A");
  assert.deepEqual(names.slice(-2), ["AA", "AB"]);
  assert.equal(found[8]?.id, "seg_009");
});

test("writeTranscription() writes nothing that could be a cue for silence", () => {
  const silence = { segments: [], durationMs: 2_000 };
  const write = (format: "json" | "text" | "srt" | "vtt") =>
    writeTranscription(silence, { ...wish, format });
  assert.equal(write("text"), "\n");
  assert.equal(write("srt"), "");
  assert.equal(write("vtt"), "");
  assert.equal(JSON.parse(write("json")).text, "");
});

test("writeTranscription() writes diarized_json with the members that typed clients require", () => {
  const segments = [
    segment(500, "Góðan daginn.", { speakerId: "2" }),
    segment(2_000, "Komið þið sæl.", { speakerId: "1" }),
  ];
  const written = writeTranscription(
    { segments, durationMs: 3_400 },
    { ...wish, format: "diarized_json" },
  );
  const type = "transcript.text.segment";
  assert.deepEqual(JSON.parse(written), {
    task: "transcribe",
    duration: 3.4,
    text: "Góðan daginn. Komið þið sæl.",
    segments: [
      { type, id: "seg_001", start: 0.5, end: 0.7, text: "Góðan daginn.", speaker: "A" },
      { type, id: "seg_002", start: 2, end: 2.3, text: "Komið þið sæl.", speaker: "B" },
    ],
    usage: { type: "duration", seconds: 4 },
  });
});
