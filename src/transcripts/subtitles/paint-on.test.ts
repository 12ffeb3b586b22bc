import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { charsOf, foldedText, overlappingSpeech } from "../../../test/fixtures/drawn-speech.ts";
import type { SpokenSegment } from "../spoken.ts";
import { paintOn, type Frame } from "./paint-on.ts";
import { readVtt } from "./read-vtt.ts";
import { writePaintOn } from "./write-vtt.ts";

/** A segment of words with their times: ["Góðan ", 0, 300]. */
function segmentOf(
  words: readonly (readonly [text: string, startMs: number, endMs: number])[],
  speakerId = "",
): SpokenSegment {
  const spoken = words.map(([text, startMs, endMs]) => ({ text, startMs, endMs }));
  const startMs = spoken[0]?.startMs ?? 0;
  return { startMs, endMs: spoken.at(-1)?.endMs ?? startMs, speakerId, words: spoken };
}

/** Returns "0-300 Góðan / dag" for each frame. */
function brief(segments: readonly SpokenSegment[], limitMs?: number): string[] {
  return [...paintOn(segments, limitMs)].map(({ startMs, endMs, lines }) => {
    return `${startMs}-${endMs} ${lines.map(({ text }) => text).join(" / ")}`;
  });
}

test("paintOn() adds each word when it is spoken, and rolls up full lines", () => {
  const words = Array.from(
    { length: 11 },
    (_, at) => [`orðalag${at} `, at * 500, at * 500 + 400] as const,
  );
  assert.deepEqual(brief([segmentOf(words)], 6000), [
    "0-500 orðalag0",
    "500-1000 orðalag0 orðalag1",
    "1000-1500 orðalag0 orðalag1 orðalag2",
    "1500-2000 orðalag0 orðalag1 orðalag2 orðalag3",
    "2000-2500 orðalag0 orðalag1 orðalag2 orðalag3 / orðalag4",
    "2500-3000 orðalag0 orðalag1 orðalag2 orðalag3 / orðalag4 orðalag5",
    "3000-3500 orðalag0 orðalag1 orðalag2 orðalag3 / orðalag4 orðalag5 orðalag6",
    "3500-4000 orðalag0 orðalag1 orðalag2 orðalag3 / orðalag4 orðalag5 orðalag6 orðalag7",
    "4000-4500 orðalag4 orðalag5 orðalag6 orðalag7 / orðalag8",
    "4500-5000 orðalag4 orðalag5 orðalag6 orðalag7 / orðalag8 orðalag9",
    "5000-6000 orðalag4 orðalag5 orðalag6 orðalag7 / orðalag8 orðalag9 orðalag10",
  ]);
});

test("paintOn() gives words with equal or missing times their own frames, and empties the screen in long pauses", () => {
  const rows: [segments: SpokenSegment[], limitMs: number | undefined, frames: string[]][] = [
    [[], 1000, []],
    [[segmentOf([[" \n", 0, 100]])], 1000, []],
    // All words have the times of their segment.
    [
      [
        segmentOf([
          ["a ", 0, 900],
          ["bb ", 0, 900],
          ["c", 0, 900],
        ]),
      ],
      1000,
      ["0-225 a", "225-675 a bb", "675-1000 a bb c"],
    ],
    // No word has a time.
    [
      [
        segmentOf([
          ["a ", 0, 0],
          ["b ", 0, 0],
          ["c", 0, 0],
        ]),
      ],
      undefined,
      ["0-333 a", "333-666 a b", "666-7666 a b c"],
    ],
    [
      [
        segmentOf([
          ["a ", 0, 0],
          ["b ", 0, 0],
          ["c", 0, 0],
        ]),
        segmentOf([["d", 90, 100]]),
      ],
      100,
      ["0-30 a", "30-60 a b", "60-90 a b c", "90-100 a b c / d"],
    ],
    // There is not even a millisecond for each word.
    [
      [
        segmentOf([
          ["a ", 5, 5],
          ["b ", 5, 5],
          ["c ", 5, 5],
          ["d", 6, 6],
        ]),
      ],
      6,
      ["5-6 a", "6-7 a b", "7-8 a b c", "8-9 a b c d"],
    ],
    // A pause of over 7 s, a word of over 7 s, and an unknown length of the recording.
    [
      [
        segmentOf([
          ["a ", 0, 100],
          ["b ", 7000, 7100],
          ["c ", 14_001, 30_000],
        ]),
        segmentOf([["d", 40_000, 40_100]]),
      ],
      undefined,
      ["0-7000 a", "7000-14000 a b", "14001-21001 c", "40000-47000 d"],
    ],
    // A voice talks in the pause of another.
    [
      [
        segmentOf(
          [
            ["a ", 0, 900],
            ["b", 9000, 9900],
          ],
          "x",
        ),
        segmentOf([["c", 5000, 5900]], "y"),
      ],
      10_000,
      ["0-5000 a", "5000-9000 a / c", "9000-10000 c / b"],
    ],
    // Two voices talk at the same time.
    [
      [
        segmentOf(
          [
            ["a ", 0, 900],
            ["b", 900, 3000],
          ],
          "x",
        ),
        segmentOf(
          [
            ["c ", 0, 400],
            ["d", 400, 800],
          ],
          "y",
        ),
      ],
      3000,
      ["0-900 a", "900-1233 a b", "1233-1566 a b / c", "1566-3000 a b / c d"],
    ],
  ];
  for (const [segments, limitMs, frames] of rows) {
    assert.deepEqual(brief(segments, limitMs), frames, JSON.stringify(segments));
  }
});

/** Checks the invariants of frames. */
function checkFrames(frames: readonly Frame[], segments: readonly SpokenSegment[]): void {
  const bare = (text: string) => foldedText(text).replaceAll(/ /g, "");
  const speech = new Map(
    segments.map(({ speakerId, words }) => [
      speakerId,
      bare(words.map(({ text }) => text).join("")),
    ]),
  );
  const shown = new Map<string, string>();
  for (const [index, { startMs, endMs, lines }] of frames.entries()) {
    const before = frames[index - 1];
    assert.ok(Number.isInteger(startMs) && Number.isInteger(endMs));
    assert.ok(endMs > startMs && endMs - startMs <= 7000, "a frame lasts at most 7 s");
    assert.ok(!before || startMs >= before.endMs, "frames do not overlap");
    assert.ok(lines.length >= 1 && lines.length <= 2);
    for (const { text } of lines) {
      assert.ok(charsOf(text) <= 42 && text.trim() !== "" && !/[\n\r]/.test(text), text);
    }
    const last = lines.at(-1);
    const above = lines.slice(0, -1);
    assert.ok(last);
    const old = before?.lines.at(-1);
    const grows =
      old !== undefined &&
      old.speakerId === last.speakerId &&
      last.text.length > old.text.length &&
      last.text.startsWith(old.text) &&
      isDeepStrictEqual(above, before?.lines.slice(0, -1));
    const isRolled = above[0] !== undefined && isDeepStrictEqual(above[0], old);
    const isCleared = above.length === 0 && (!before || startMs > before.endMs);
    assert.ok(grows || isRolled || isCleared, "the screen changes by one word");
    // If a new line begins like the one before it, only the speech shows which of the two it is.
    const [seen = "", said = ""] = [shown.get(last.speakerId), speech.get(last.speakerId)];
    const whole = (isRolled || isCleared) && ` ${last.text}`;
    const more = grows && last.text.slice(old.text.length);
    const added = [whole, more].find(
      (text) => text !== false && said.startsWith(bare(seen + text)),
    );
    assert.ok(added, "all of the text is there, in order");
    assert.equal(
      foldedText(added).split(/[^\S\u00a0\u2007\u202f]/).length,
      1,
      "a frame adds one word",
    );
    shown.set(last.speakerId, seen + added);
  }
  for (const [speakerId, said] of speech) {
    assert.equal(bare(shown.get(speakerId) ?? ""), said, "all of the text is there");
  }
}

test("frames of any speech add its words one by one, in two lines of 42 characters, and never overlap", () => {
  fc.assert(
    fc.property(overlappingSpeech(5000), (segments) => {
      checkFrames([...paintOn(segments)], segments);
    }),
    { numRuns: 300 },
  );
});

test("if speakers do not overlap, words appear when they are spoken, within the recording", () => {
  fc.assert(
    fc.property(overlappingSpeech(0), fc.nat(2000), (segments, restMs) => {
      const endMs = Math.max(0, ...segments.map((segment) => segment.endMs)) + restMs;
      const frames = [...paintOn(segments, endMs)];
      checkFrames(frames, segments);
      const starts = new Set(frames.map(({ startMs }) => startMs));
      const words = segments.flatMap((segment) => segment.words);
      // A word of 130 characters appears in four pieces, for at least a millisecond each.
      if (words.some((word) => word.endMs - word.startMs < 4)) return;
      for (const { startMs, endMs: frameEndMs } of frames) {
        assert.ok(frameEndMs <= endMs, `${frameEndMs} of ${endMs}`);
        assert.ok(words.some((word) => word.startMs <= startMs && startMs <= word.endMs));
      }
      for (const { speakerId, words } of segments) {
        const first = words.find(({ text }) => text.trim() !== "");
        if (first) assert.ok(starts.has(first.startMs), `${speakerId} begins at ${first.startMs}`);
      }
    }),
    { numRuns: 300 },
  );
});

test("writePaintOn() writes cues that are read again with their times, text and voices", () => {
  const names = new Map([
    ["0", "Anna & <Co>"],
    ["1", ""],
  ]);
  const nameOf = (id: string) => names.get(id) ?? id;
  fc.assert(
    fc.property(overlappingSpeech(5000), (segments) => {
      const frames = [...paintOn(segments)];
      const vtt = writePaintOn(frames, nameOf, 1e9);
      const cues = readVtt(vtt ?? "").map(({ startMs, endMs, spans }) => ({
        startMs,
        endMs,
        text: spans.map(({ text }) => text).join(""),
        voice: spans.at(-1)?.voice,
      }));
      const expected = frames.map(({ startMs, endMs, lines }) => ({
        startMs,
        endMs,
        text: lines.map(({ text }) => text).join("\n"),
        voice: nameOf(lines.at(-1)?.speakerId ?? ""),
      }));
      assert.deepEqual(cues, expected);
    }),
    { numRuns: 100 },
  );
});

test("writePaintOn() closes the voice of the line above, and stops at its limit", () => {
  const segments = [segmentOf([["Hæ ", 0, 500]], "a"), segmentOf([["Jæja & já", 500, 900]], "b")];
  const names = new Map([["a", "Anna"]]);
  const frames = [...paintOn(segments, 1000)];
  const vtt = [
    "WEBVTT\n",
    "1\n00:00:00.000 --> 00:00:00.500\n<v Anna>Hæ\n",
    "2\n00:00:00.500 --> 00:00:00.722\n<v Anna>Hæ</v>\nJæja\n",
    "3\n00:00:00.722 --> 00:00:00.811\n<v Anna>Hæ</v>\nJæja &amp;\n",
    "4\n00:00:00.811 --> 00:00:01.000\n<v Anna>Hæ</v>\nJæja &amp; já\n",
  ];
  const nameOf = (id: string) => names.get(id) ?? "";
  const written = writePaintOn(frames, nameOf, 1000) ?? "";
  assert.equal(written, vtt.join("\n"));
  const bytes = Buffer.byteLength(written);
  assert.equal(writePaintOn(frames, nameOf, bytes), written);
  assert.equal(writePaintOn(frames, nameOf, bytes - 1), undefined);
  assert.equal(writePaintOn([], nameOf, 10), "WEBVTT\n");
});
