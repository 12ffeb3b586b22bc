import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeak, espeakWords } from "../../../test/fixtures/flite.ts";
import { openStarter } from "../../../test/fixtures/open-starter.ts";
import { assertWordTimes } from "../../../test/fixtures/word-times.ts";
import type { DecoderOptions, Engine, Hypothesis } from "../protocol/engine.ts";

/**
 * Common phrases, which a differently trained starter model would also recognize for the most part.
 */
const phrases = [
  "góðan daginn",
  "takk fyrir",
  "veðrið er gott í dag",
  "klukkan er tólf",
  "í dag er mánudagur",
  "viltu tala hærra",
  "fundurinn byrjar klukkan tíu",
  "hvað er símanúmerið þitt",
] as const;

let engine: Engine;
let spoken: readonly { readonly phrase: string; readonly samples: Int16Array }[];
before(async () => {
  engine = await openStarter("streaming");
  spoken = phrases.map((phrase) => ({ phrase, samples: espeak(phrase) }));
});
after(() => {
  engine.close();
});

async function recognize(
  samples: Int16Array,
  options: Partial<DecoderOptions> = {},
): Promise<readonly Hypothesis[]> {
  const decoder = engine.createDecoder({ mode: "short", alternativesMax: 1, ...options });
  try {
    decoder.begin();
    for (let at = 0; at < samples.length; at += 1600) {
      decoder.accept(samples.subarray(at, at + 1600));
      for (let work = decoder.work(); work !== false; work = decoder.work()) await work;
    }
    const ending = decoder.end();
    let slice = ending.next();
    for (; !slice.done; slice = ending.next()) await slice.value;
    return slice.value;
  } finally {
    decoder.close();
  }
}

async function textOf(samples: Int16Array, options?: Partial<DecoderOptions>): Promise<string> {
  return (await recognize(samples, options))[0]?.text ?? "";
}

/** Returns the samples with added noise that is this many decibels quieter than their average. */
function noisy(samples: Int16Array, decibels: number, seed: number): Int16Array {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  // Uniform noise from -1 to 1 has a third of this power.
  const scale = Math.sqrt(3 * power) / 10 ** (decibels / 20);
  let state = seed;
  return samples.map((sample) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const noise = (state / 0x7fffffff) * 2 - 1;
    return Math.max(-32_768, Math.min(32_767, Math.round(sample + scale * noise)));
  });
}

test("the results of a stream do not depend on other streams", async () => {
  const options = { mode: "live", alternativesMax: 3 } as const;
  const alone: unknown[] = [];
  for (const { samples } of spoken) alone.push(await recognize(samples, options));
  const together = [...spoken, ...spoken].map(({ samples }) => recognize(samples, options));
  const found = await Promise.all(together);
  assert.deepEqual(found.slice(0, spoken.length), alone);
  assert.deepEqual(found.slice(spoken.length), alone);
});

test("wrong words have a lower confidence than right ones", async () => {
  const right: number[] = [];
  const wrong: number[] = [];
  for (const [index, { phrase, samples }] of spoken.entries()) {
    const said = phrase.split(" ");
    for (const decibels of [-3, 0, 3, 6, 12, 24]) {
      const [best] = await recognize(noisy(samples, decibels, index + 1));
      for (const { text, confidence } of best?.words ?? []) {
        (said.includes(text) ? right : wrong).push(confidence ?? Number.NaN);
      }
    }
  }
  const mean = (values: readonly number[]) =>
    values.reduce((sum, each) => sum + each, 0) / values.length;
  assert.ok(
    right.length >= 30 && wrong.length >= 10,
    `${right.length} right, ${wrong.length} wrong`,
  );
  assert.ok(mean(right) > mean(wrong) + 0.2, `${mean(right)} right, ${mean(wrong)} wrong`);
});

test("every word begins where it was spoken", async () => {
  for (const pauseMs of [150, 400]) {
    const { samples, words } = espeakWords(phrases.join(" "), pauseMs);
    const [best] = await recognize(samples);
    assertWordTimes(words, best?.words ?? [], { recognizedShareMin: 0.9 });
  }
});

test("hints correct phrases that are misrecognized without them", async () => {
  const names = [
    "Eyjafjallajökull",
    "Ragnheiður Skúladóttir",
    "Hallgrímskirkja",
    "fjármálaráðherra",
    "kjarnorkuver",
    "tölvupóstur",
    "ljósmóðir",
  ];
  let [wrong, corrected] = [0, 0];
  for (const name of names) {
    const samples = espeak(`hér er ${name} í dag`);
    const isRight = async (options?: Partial<DecoderOptions>) =>
      ` ${await textOf(samples, options)} `.includes(` ${name.toLowerCase()} `);
    if (await isRight()) continue;
    wrong += 1;
    if (await isRight({ hints: [{ phrase: name, boost: 10 }] })) corrected += 1;
    assert.ok(!(await isRight()), "the hints of one session do not affect the next");
  }
  assert.ok(wrong >= 2, `${wrong} wrong without hints`);
  assert.ok(corrected >= wrong * 0.75, `${corrected} of ${wrong} corrected`);
});

test("hints change neither other words nor the results of other sessions", async () => {
  const phrases = ["góðan dal", "takkinn", "gott idda", "Anna", "mánafell", "Eyjafjallajökull"];
  const hints = [...phrases, "veður", "tala við Hönnu"].map((phrase) => ({ phrase, boost: 10 }));
  for (const { samples } of spoken) {
    const [plain, hinted] = await Promise.all([textOf(samples), textOf(samples, { hints })]);
    assert.equal(hinted, plain);
  }
});

test("an utterance of a minute is recognized to its end", async () => {
  const phrase = espeak("góðan daginn");
  const samples = new Int16Array(60 * 16_000);
  for (let at = 0; at + phrase.length < samples.length; at += 3 * 16_000) samples.set(phrase, at);
  const [best] = await recognize(samples, { mode: "job" });
  assert.equal(best?.text, Array.from({ length: 20 }, () => "góðan daginn").join(" "));
  const last = best.words.at(-1);
  assert.ok(last && last.startMs > 57_000 && last.endMs < 59_000);
});
