import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fliteWords, joined, noise, silence } from "../../../test/fixtures/flite.ts";
import type { WordTime } from "../protocol/alignment.ts";
import type { Engine } from "../protocol/engine.ts";
import { openPocketsphinx } from "./pocketsphinx-engine.ts";

const offMsMax = 150;
let engine: Engine;
let samples: Int16Array;
let said: { readonly text: string; readonly startMs: number }[];
before(async () => {
  engine = await openPocketsphinx();
  const first = fliteWords("The children played in the garden all afternoon", "slt");
  const second = fliteWords("My brother bought a small house near the ocean", "rms");
  const pause = noise(500, 4);
  samples = joined(pause, first.samples, pause, second.samples, pause);
  const secondMs = 1000 + first.samples.length / 16;
  said = [
    ...first.words.map((word) => ({ ...word, startMs: 500 + word.startMs })),
    ...second.words.map((word) => ({ ...word, startMs: secondMs + word.startMs })),
  ];
});
after(() => engine.close());

async function align(words: readonly string[], window = samples): Promise<readonly WordTime[]> {
  const slices = engine.align?.(window, words);
  assert.ok(slices);
  for (;;) {
    const { done, value } = slices.next();
    if (!done) {
      if (value) await value;
      continue;
    }
    assert.equal(value.length, words.length);
    const starts = value.map(({ startMs }) => startMs);
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
    );
    assert.ok(
      value.every((word) => word.endMs >= word.startMs && word.endMs <= window.length / 16),
    );
    return value;
  }
}

function wrong(times: readonly WordTime[], words = said): string[] {
  return words.flatMap(({ text, startMs }, index) => {
    const offMs = Math.round((times[index]?.startMs ?? Infinity) - startMs);
    return Math.abs(offMs) > offMsMax ? [`${text} ${offMs}`] : [];
  });
}

test("the words of two voices begin where they are said", async () => {
  const times = await align(said.map(({ text }) => text));
  assert.deepEqual(wrong(times), []);
  assert.ok(
    times.every(({ score }) => score > 0.4),
    JSON.stringify(times),
  );
});

for (const [what, index, text] of [
  ["capitals and punctuation", 1, "CHILDREN,"],
  ["a number", 5, "1984"],
  ["a foreign script", 5, "сад"],
  ["a word that the dictionary lacks", 9, "brotherr"],
  ["another word", 5, "building"],
  ["signs only", 5, "—"],
] as const) {
  test(`${what} in place of a word leaves all words in their places`, async () => {
    assert.deepEqual(wrong(await align(said.map((word) => word.text).with(index, text))), []);
  });
}

test("words that are not in the text, and words that are not said, move no other word", async () => {
  const texts = said.map(({ text }) => text);
  assert.deepEqual(wrong(await align(texts.toSpliced(3, 3)), said.toSpliced(3, 3)), []);
  const added = await align(texts.toSpliced(8, 0, "please", "send", "me", "the", "report"));
  assert.deepEqual(wrong(added.toSpliced(8, 5)), []);
});

test("text of another recording gets lower scores than its own", async () => {
  const texts = "Please send him some bread and coffee before twelve months end".split(" ");
  const mean = (times: readonly WordTime[]) =>
    times.reduce((sum, { score }) => sum + score, 0) / times.length;
  const [own, other] = [mean(await align(said.map(({ text }) => text))), mean(await align(texts))];
  assert.ok(other < 0.4 && other < own / 1.5, `${other} for the other text, ${own} for its own`);
});

test("silence, no audio, no words, and more words than the audio can hold get times", async () => {
  const words = said.map(({ text }) => text);
  await align(words, silence(2000));
  assert.ok((await align(words, silence(0))).every(({ endMs }) => endMs === 0));
  assert.deepEqual(await align([]), []);
  await align(Array.from({ length: 1000 }, (_, index) => words[index % words.length] ?? ""));
});

test("windows that are aligned at the same time take turns", async () => {
  const words = said.map(({ text }) => text);
  const alone = await align(words);
  for (const times of await Promise.all([align(words), align(words)])) {
    assert.deepEqual(wrong(times), []);
    assert.equal(times.length, alone.length);
  }
});
