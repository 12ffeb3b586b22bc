import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingFileName } from "./recording-file-name.ts";

const rows: readonly (readonly [string, string, string])[] = [
  ["Viðtal um hlaupið í Skeiðará", "audio/wav", "Viðtal um hlaupið í Skeiðará.wav"],
  ["../../etc/passwd", "audio/mpeg", "etc passwd.mp3"],
  ["a\u202egpj.exe\0<b>", "video/mp4; codecs=x", "a gpj.exe b.mp4"],
  ["  ...  ", "audio/ogg", "recording.ogg"],
  ["", "application/octet-stream", "recording.bin"],
  ["Þ".repeat(300), "audio/flac", `${"Þ".repeat(100)}.flac`],
];

for (const [subject, type, name] of rows) {
  test(`recordingFileName() returns a valid name for ${JSON.stringify(subject.slice(0, 30))} of type ${type}`, () => {
    assert.equal(recordingFileName(subject, type), name);
  });
}
