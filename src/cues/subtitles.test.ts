import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TimedWord, TimedWords } from "./timed-words.ts";
import { charsOf, foldedText, overlappingSpeech } from "../../test/fixtures/drawn-speech.ts";
import type { Cue } from "./cue.ts";
import { subtitlesOf } from "./subtitles.ts";

/** Returns words that take 65 ms per character, with a pause of 600 ms after each period. */
function spokenText(text: string, startMs = 0): TimedWord[] {
  let ms = startMs;
  return text.split(/(?<=\s)(?=\S)/).map((word) => {
    const start = ms;
    ms += word.trim().length * 65;
    const end = ms;
    if (/[.?!]\s*$/.test(word)) ms += 600;
    return { text: word, startMs: start, endMs: end };
  });
}

function segmentOf(words: readonly TimedWord[], speakerId = ""): TimedWords {
  return { speakerId, words };
}

function linesOf(text: string): string[][] {
  return subtitlesOf([segmentOf(spokenText(text))]).map(({ lines }) => [...lines]);
}

test("subtitlesOf() breaks at sentences, clauses and conjunctions, into lines of similar length", () => {
  const rows: [text: string, lines: string[][]][] = [
    ["", []],
    [" \n ", []],
    ["Góðan dag.", [["Góðan dag."]]],
    [
      "Tonight we have a guest, who has written three books about the sea, and he will show us how he came to live on an island.",
      [
        ["Tonight we have a guest,", "who has written three books about the sea,"],
        ["and he will show us how", "he came to live on an island."],
      ],
    ],
    [
      "Þetta er fyrsti fundur nefndarinnar á þessum vetri og við förum yfir dagskrána. Síðan tökum við fyrir önnur mál sem bárust í gær.",
      [
        ["Þetta er fyrsti fundur nefndarinnar á", "þessum vetri og við förum yfir dagskrána."],
        ["Síðan tökum við fyrir önnur mál", "sem bárust í gær."],
      ],
    ],
    ["hálftími", [["hálftími"]]],
    ["x".repeat(50), [["x".repeat(42), "x".repeat(8)]]],
  ];
  for (const [text, lines] of rows) assert.deepEqual(linesOf(text), lines, text);
});

test("subtitlesOf() joins words without whitespace between them, and breaks scripts without spaces between words", () => {
  const word = (text: string, at: number) => ({ text, startMs: at * 300, endMs: at * 300 + 300 });
  const [glued] = subtitlesOf([segmentOf(["hálf", "tími ", "er"].map(word))]);
  assert.deepEqual(glued?.lines, ["hálftími er"]);
  const text =
    "私は昨日友達と一緒に東京へ行きました。そこで美味しい寿司を食べて、夜遅くまで話をしました。";
  const cues = subtitlesOf([segmentOf([{ text, startMs: 0, endMs: 9000 }])]);
  assert.equal(cues.flatMap(({ lines }) => lines).join(""), text);
  assert.ok(cues.length > 1);
  assert.ok(cues.some(({ lines }) => lines.some((line) => /[。、]$/.test(line))));
  const arabic = "مرحبا بكم في هذا الاجتماع، سنبدأ الآن.";
  assert.deepEqual(linesOf(arabic), [[arabic]]);
});

test("subtitlesOf() extends a cue into the following pause as far as reading requires", () => {
  const at = (text: string, startMs: number, endMs: number) =>
    segmentOf([{ text, startMs, endMs }]);
  const times = (segments: TimedWords[], limitMs?: number) =>
    subtitlesOf(segments, limitMs).map(({ startMs, endMs }) => [startMs, endMs]);
  assert.deepEqual(times([at("Já", 0, 200)]), [[0, 1000]]);
  assert.deepEqual(times([at("Já", 0, 200), at("Nei", 700, 900)]), [
    [0, 700],
    [700, 1700],
  ]);
  assert.deepEqual(times([at("Jájá ", 0, 2500), at(" Nei, takk  ", 4000, 6000)]), [
    [0, 2500],
    [4000, 6000],
  ]);
  // Reading 34 characters takes 2 s.
  assert.deepEqual(times([at("abcdefgh abcdefgh abcdefgh abcdefg", 0, 900)]), [[0, 2000]]);
  assert.deepEqual(times([at("Já", 5000, 5200)], 5600), [[5000, 5600]]);
  assert.deepEqual(times([at("Já", 5000, 5200)], 5100), [[5000, 5200]]);
  // A cue takes at most 7 s, even if a word is longer.
  assert.deepEqual(times([at("Já", 0, 20_000)]), [[0, 7000]]);
  // Words that all have the times of their segment share that time.
  const words = Array.from({ length: 40 }, () => ({ text: "orð ", startMs: 0, endMs: 16_000 }));
  const cues = subtitlesOf([segmentOf(words)]);
  assert.ok(cues.length >= 3);
  assert.ok(cues.every(({ startMs, endMs }) => endMs - startMs > 2000));
});

test("subtitlesOf() creates separate cues for each speaker, which follow one another if the speakers talk at the same time", () => {
  const one = segmentOf([{ text: "Ég held að", startMs: 0, endMs: 4000 }], "a");
  const other = segmentOf([{ text: "Nei", startMs: 0, endMs: 500 }], "b");
  const third = segmentOf([{ text: "Jú", startMs: 6000, endMs: 6500 }], "a");
  const cues = subtitlesOf([one, other, third]);
  assert.deepEqual(
    cues.map(({ startMs, endMs, speakerId }) => [startMs, endMs, speakerId]),
    [
      [0, 1000, "a"],
      [1000, 2000, "b"],
      [6000, 7000, "a"],
    ],
  );
});

/** Checks the invariants of cues. */
function checkCues(cues: readonly Cue[], segments: readonly TimedWords[]): void {
  for (const [index, { startMs, endMs, lines }] of cues.entries()) {
    assert.ok(Number.isInteger(startMs) && Number.isInteger(endMs));
    assert.ok(endMs > startMs && endMs - startMs <= 7000, "a cue lasts at most 7 s");
    assert.ok(startMs >= (cues[index - 1]?.endMs ?? 0), "cues do not overlap");
    assert.ok(lines.length >= 1 && lines.length <= 2);
    for (const line of lines) {
      assert.ok(charsOf(line) <= 42 && line.trim() !== "" && !/[\n\r]/.test(line), line);
    }
  }
  for (const { speakerId, words } of segments) {
    const text = foldedText(words.map((word) => word.text).join(""));
    let at = 0;
    for (const line of cues
      .filter((cue) => cue.speakerId === speakerId)
      .flatMap((cue) => cue.lines)) {
      assert.ok(text.startsWith(line, at), `${line} in ${text.slice(at)}`);
      at += line.length;
      if (text[at] === " ") at += 1;
    }
    assert.equal(at, text.length, "all of the text is there");
  }
}

test("subtitles of any speech contain all of its text in order, in two lines of 42 characters, for at most 7 s, and never overlap", () => {
  fc.assert(
    fc.property(overlappingSpeech(5000), (segments) => checkCues(subtitlesOf(segments), segments)),
    { numRuns: 300 },
  );
});

test("if speakers do not overlap, cues begin with their words and stay within the recording", () => {
  fc.assert(
    fc.property(overlappingSpeech(0), fc.nat(2000), (segments, restMs) => {
      const endMs = Math.max(0, ...segments.map((segment) => segment.endMs)) + restMs;
      const cues = subtitlesOf(segments, endMs);
      checkCues(cues, segments);
      for (const cue of cues) {
        const segment = segments[Number(cue.speakerId)];
        assert.ok(segment && cue.startMs >= segment.startMs && cue.startMs <= segment.endMs);
        const degenerate = segment.words.some((word) => word.startMs === word.endMs);
        assert.ok(cue.endMs <= endMs || degenerate, `${cue.endMs} of ${endMs}`);
        // A cue is longer than its words only if reading takes longer.
        const readMs = Math.max(1000, Math.ceil((charsOf(cue.lines.join(" ")) * 1000) / 17));
        assert.ok(cue.endMs <= Math.max(segment.endMs, cue.startMs + readMs));
      }
    }),
    { numRuns: 300 },
  );
});

test("the minimum duration and the reading speed are respected if the words can be split accordingly", () => {
  const plain = fc.array(
    fc.record({
      text: fc.stringMatching(/^[a-z]{1,30}$/),
      gapMs: fc.oneof(fc.constant(0), fc.nat(1500)),
      ms: fc.integer({ min: 50, max: 2500 }),
    }),
    { minLength: 1, maxLength: 11 },
  );
  fc.assert(
    fc.property(plain, fc.nat(3000), (drafts, restMs) => {
      let ms = 0;
      const words = drafts.map((draft) => {
        const startMs = ms + draft.gapMs;
        ms = startMs + draft.ms;
        return { text: `${draft.text} `, startMs, endMs: ms };
      });
      const limitMs = ms + restMs;
      const cues = subtitlesOf([segmentOf(words)], limitMs);
      const ours = cues.map(({ startMs, endMs, lines }) => ({
        ms: endMs - startMs,
        chars: lines.join(" ").length,
      }));
      assert.deepEqual(broken(ours), fewestBroken(words, limitMs));
    }),
    { numRuns: 500 },
  );
});

interface Shown {
  readonly ms: number;
  readonly chars: number;
}

/**
 * Returns the number of cues shorter than 1 s, and the number of other cues that are read faster
 * than 17 characters a second.
 */
function broken(cues: readonly Shown[]): [short: number, fast: number] {
  const short = cues.filter(({ ms }) => ms < 1000);
  const fast = cues.filter(({ ms, chars }) => ms >= 1000 && ms < Math.ceil((chars * 1000) / 17));
  return [short.length, fast.length];
}

/** Returns the result of the best way to cut the words into cues. */
function fewestBroken(words: readonly TimedWord[], limitMs: number): [number, number] {
  let best: [number, number] = [Infinity, Infinity];
  const visit = (from: number, cues: readonly Shown[]): void => {
    if (from === words.length) {
      const [short, fast] = broken(cues);
      if (short < best[0] || (short === best[0] && fast < best[1])) best = [short, fast];
    }
    for (let to = from + 1; to <= words.length; to += 1) {
      const cue = words.slice(from, to);
      const [first, last] = [cue[0], cue.at(-1)];
      if (!first || !last || !fitsTwoLines(cue)) break;
      if (to > from + 1 && last.endMs - first.startMs > 7000) break;
      const roomMs = Math.min(7000, (words[to]?.startMs ?? limitMs) - first.startMs);
      visit(to, [...cues, { ms: roomMs, chars: textOf(cue).length }]);
    }
  };
  visit(0, []);
  return best;
}

function fitsTwoLines(words: readonly TimedWord[]): boolean {
  if (textOf(words).length <= 42) return true;
  return words.some(
    (_, at) => textOf(words.slice(0, at)).length <= 42 && textOf(words.slice(at)).length <= 42,
  );
}

function textOf(words: readonly TimedWord[]): string {
  return words
    .map(({ text }) => text)
    .join("")
    .trim();
}
