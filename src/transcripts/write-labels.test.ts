import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { overlappingSpeech } from "../../test/fixtures/drawn-speech.ts";
import { writeLabels } from "./write-labels.ts";

test("writeLabels() writes a label with six decimals for each word, in order of start", () => {
  const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });
  const one = [word("Góðan ", 0, 450), word("dag,\n", 450, 450), word(" \t", 460, 470)];
  const two = [word("tab\there\r\nnext\u2028line\u0000", 100, 3_600_001)];
  const segment = { startMs: 0, endMs: 3_600_001, speakerId: "a" };
  const segments = [
    { ...segment, words: one },
    { ...segment, words: two },
  ];
  assert.equal(
    writeLabels(segments),
    "0.000000\t0.450000\tGóðan\n0.100000\t3600.001000\ttab here next line\n0.450000\t0.450000\tdag,\n",
  );
  assert.equal(writeLabels([]), "");
});

test("labels of any speech have three fields, in order, with the text of every word", () => {
  fc.assert(
    fc.property(overlappingSpeech(5000), (segments) => {
      const lines = writeLabels(segments).split("\n");
      assert.equal(lines.pop(), "");
      const words = segments
        .flatMap((segment) => segment.words)
        .filter(({ text }) => /\S/.test(text));
      assert.equal(lines.length, words.length);
      let beforeSeconds = 0;
      for (const line of lines) {
        assert.match(line, /^\d+\.\d{6}\t\d+\.\d{6}\t\S(?:[^\t]*\S)?$/u);
        const [start = "", end = ""] = line.split("\t");
        assert.ok(Number(start) >= beforeSeconds && Number(end) >= Number(start), line);
        beforeSeconds = Number(start);
      }
      const bare = (text: string) => text.replaceAll(/\s/g, "");
      const expected = words
        .toSorted((a, b) => a.startMs - b.startMs)
        .map(({ text }) => bare(text));
      assert.deepEqual(
        lines.map((line) => bare(line.split("\t")[2] ?? "")),
        expected,
      );
    }),
  );
});
