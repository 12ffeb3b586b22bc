import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeakTimedWords } from "../../../test/fixtures/espeak-words.ts";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { openStarter } from "../../../test/fixtures/open-starter.ts";
import type { WordTime } from "../protocol/alignment.ts";
import type { Engine } from "../protocol/engine.ts";
import { joinUtterances, type UtteranceOutputs } from "../protocol/kept-outputs.ts";

let engine: Engine;
let samples: Int16Array;
let said: { readonly text: string; readonly startMs: number }[];
before(async () => {
  engine = await openStarter("streaming");
  const [first, second] = [
    await espeakTimedWords("við hittumst á kaffihúsinu eftir vinnu", "is"),
    await espeakTimedWords("strákurinn les bókina sína í stofunni", "is+f2"),
  ];
  const pause = noise(700, 4);
  samples = joined(pause, first.samples, pause, second.samples, pause);
  const secondMs = 1400 + first.samples.length / 16;
  said = [
    ...first.words.map((word) => ({ ...word, startMs: 700 + word.startMs })),
    ...second.words.map((word) => ({ ...word, startMs: secondMs + word.startMs })),
  ];
});
after(() => engine.close());

async function align(
  words: readonly string[],
  window = samples,
  by = engine,
): Promise<readonly WordTime[]> {
  assert.ok(by.align);
  const times = await ended(by.align(window, words));
  assertOrdered(times, words.length, window.length / 16);
  return times;
}

async function ended<Result>(slices: Generator<void | Promise<void>, Result, void>) {
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
    if (value) await value;
  }
}

/** Returns the outputs of a part of the window, recognized as one utterance. */
async function outputsOf(by: Engine, startMs: number, endMs: number): Promise<UtteranceOutputs> {
  const decoder = by.createDecoder({ mode: "job", alternativesMax: 1, keepsOutputs: true });
  decoder.begin();
  decoder.accept(samples.subarray(startMs * 16, endMs * 16));
  for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
  await ended(decoder.end());
  const bytes = decoder.takeOutputs?.();
  decoder.close();
  assert.ok(bytes);
  return { startMs, bytes };
}

function assertOrdered(times: readonly WordTime[], count: number, windowMs: number): void {
  assert.equal(times.length, count);
  let lastMs = 0;
  for (const { startMs, endMs, score } of times) {
    assert.ok(startMs >= lastMs && endMs >= startMs && endMs <= windowMs, JSON.stringify(times));
    assert.ok(score >= 0 && score <= 1);
    lastMs = startMs;
  }
}

/** The words whose start is over 100 ms off, with the difference. */
function wrong(times: readonly WordTime[], words = said): string[] {
  return words.flatMap(({ text, startMs }, index) => {
    const offMs = Math.round((times[index]?.startMs ?? Infinity) - startMs);
    return Math.abs(offMs) > 100 ? [`${text} ${offMs}`] : [];
  });
}

test("the words of two voices begin where they are said", async () => {
  const times = await align(said.map(({ text }) => text));
  assert.deepEqual(wrong(times), []);
  assert.ok(
    // The score of a word that is not found is below 0.3. The noise of the voices is random.
    times.every(({ score }) => score > 0.3),
    JSON.stringify(times),
  );
});

test("a model for whole recordings finds them too", async () => {
  const whole = await openStarter("whole");
  const times = await align(
    said.map(({ text }) => text),
    samples,
    whole,
  );
  whole.close();
  assert.deepEqual(wrong(times), []);
});

test("kept outputs give the times that samples give, for models of both kinds", async () => {
  const words = said.map(({ text }) => text);
  const windowMs = samples.length / 16;
  // The second utterance follows the first one without a pause.
  const cutMs = Math.round((said[6]?.startMs ?? 0) - 350);
  for (const by of [engine, await openStarter("whole")]) {
    const outputs = [await outputsOf(by, 400, cutMs), await outputsOf(by, cutMs, windowMs - 200)];
    const bytes = joinUtterances(outputs);
    assert.ok(bytes.length < windowMs / 5, `${bytes.length} bytes`);
    assert.ok(by.outputs);
    const times = await ended(by.outputs.align({ bytes, windowMs }, words));
    assertOrdered(times, words.length, windowMs);
    assert.deepEqual(wrong(times), []);
    const ofSamples = await align(words, samples, by);
    for (const [index, { startMs, score }] of ofSamples.entries()) {
      const kept = times[index];
      assert.ok(
        kept && Math.abs(kept.startMs - startMs) <= 60,
        `${index} ${kept?.startMs} ${startMs}`,
      );
      assert.ok(Math.abs(kept.score - score) < 0.3, `${index} ${kept.score} ${score}`);
    }
    // Nothing was recognized in this window.
    const none = await ended(by.outputs.align({ bytes: new Uint8Array(0), windowMs: 500 }, words));
    assertOrdered(none, words.length, 500);
    if (by !== engine) by.close();
  }
});

test("a decoder that was not asked for outputs keeps none", async () => {
  const decoder = engine.createDecoder({ mode: "job", alternativesMax: 1 });
  decoder.begin();
  decoder.accept(samples);
  for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
  await ended(decoder.end());
  assert.equal(decoder.takeOutputs?.().length, 0);
  decoder.close();
});

test("a model is named by its content: both kinds of one network are two models", async () => {
  const whole = await openStarter("whole");
  assert.match(engine.outputs?.model ?? "", /^is-IS-starter 3 [0-9a-f]{16}$/);
  assert.notEqual(engine.outputs?.model, whole.outputs?.model);
  whole.close();
});

/** Other texts for the words from `index` on, and whether they are not found. */
const replacements: readonly [what: string, index: number, text: string, isLost: boolean][] = [
  ["capitals and punctuation", 1, "Hittumst,", false],
  ["a number", 3, "1984", true],
  ["a foreign script", 3, "кафе", true],
  ["a letter that the model lacks", 7, "lès", false],
  ["another word", 3, "fjörutíu", true],
  ["signs only", 3, "—", true],
  ["an empty word", 3, "", true],
];
for (const [what, index, text, isLost] of replacements) {
  test(`${what} in place of a word leaves all words in their places`, async () => {
    const texts = said.map((word) => word.text).with(index, text);
    const times = await align(texts);
    assert.deepEqual(wrong(times), []);
    if (isLost) assert.ok((times[index]?.score ?? 1) < 0.3, JSON.stringify(times[index]));
    else assert.ok((times[index]?.score ?? 0) > 0.3, JSON.stringify(times[index]));
  });
}

test("words that are not in the text, and words that are not said, move no other word", async () => {
  const texts = said.map(({ text }) => text);
  assert.deepEqual(wrong(await align(texts.toSpliced(2, 3)), said.toSpliced(2, 3)), []);
  const added = await align(texts.toSpliced(6, 0, "ráðherrann", "svaraði", "spurningum"));
  assert.deepEqual(wrong(added.toSpliced(6, 3)), []);
});

test("several numbers in a row share the sound between their neighbors", async () => {
  const times = await align(
    said
      .map(({ text }) => text)
      .with(2, "2")
      .with(3, "75"),
  );
  assert.deepEqual(wrong(times.toSpliced(2, 2), said.toSpliced(2, 2)), []);
  const [from, to] = [said[2]?.startMs ?? 0, said[4]?.startMs ?? 0];
  for (const { startMs } of times.slice(2, 4)) assert.ok(startMs > from - 150 && startMs < to + 50);
});

test("text of another recording gets low scores", async () => {
  const texts = "forsætisráðherra heldur ræðu klukkan tvö margir ferðamenn koma".split(" ");
  const times = await align(texts);
  const mean = times.reduce((sum, { score }) => sum + score, 0) / times.length;
  assert.ok(mean < 0.3, `${mean}`);
});

test("silence, no audio, no words, and more words than the audio can hold get times", async () => {
  const words = said.map(({ text }) => text);
  const inSilence = await align(words, silence(3000));
  assert.ok(
    inSilence.every(({ score }) => score < 0.3),
    JSON.stringify(inSilence),
  );
  assert.ok((await align(words, silence(0))).every(({ endMs }) => endMs === 0));
  assert.deepEqual(await align([]), []);
  await align(Array.from({ length: 2000 }, (_, index) => words[index % words.length] ?? ""));
});

test("windows that are aligned at the same time have the same times as one after another", async () => {
  const words = said.map(({ text }) => text);
  const alone = await align(words);
  for (const times of await Promise.all([align(words), align(words), align(words)])) {
    assert.deepEqual(times, alone);
  }
});
