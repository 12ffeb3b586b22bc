// A recording of two voices, which a real engine transcribes with errors, is corrected with keys
// only. KEYSTROKES_MINUTES sets the length of the recording; the gate takes one minute.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { sentences } from "../../bench/sentences.ts";
import { fliteWords, joined, noise, type TimedSpeech } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { openEditing, textsOf } from "./edited-page.ts";
import { versionsOf } from "./edited-transcript.ts";
import { Keystrokes } from "./keystrokes.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { correctionsOf, type SpokenWord } from "./word-corrections.ts";

const minutes = Number(process.env["KEYSTROKES_MINUTES"] ?? 1);
const sampleRate = 16_000;
const voices = ["slt", "rms"] as const;
const pausesMs = [300, 700, 450, 900, 550];
/** The maximum difference between the start of a word and when it is said. */
const offMsMax = { kept: 300, corrected: 500 } as const;
/** The maximum number of keys, as a share of the characters of the text. */
const keysShareMax = 0.25;

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ENGINE: "pocketsphinx" });
});
after(() => pages[Symbol.asyncDispose]());

/** Returns a recording in which two voices take turns, and its words. */
function recording(): { readonly samples: Int16Array; readonly said: readonly SpokenWord[] } {
  const parts: Int16Array[] = [];
  const said: SpokenWord[] = [];
  const spoken = new Map<string, TimedSpeech>();
  const { length } = sentences;
  for (let at = 0, sentence = 0; at < minutes * 60 * sampleRate; sentence += 1) {
    const round = Math.floor(sentence / length);
    const text = (sentences[(sentence * 7 + round) % length] ?? "").replaceAll(/[^\w' ]/g, "");
    const voice = voices[(sentence + round) % voices.length] ?? "slt";
    const speech = spoken.get(voice + text) ?? fliteWords(text, voice);
    spoken.set(voice + text, speech);
    const { samples, words } = speech;
    for (const word of words) {
      said.push({ text: word.text, sentence, startMs: (1000 * at) / sampleRate + word.startMs });
    }
    const pause = noise(pausesMs[sentence % pausesMs.length] ?? 500, 4);
    parts.push(samples, pause);
    at += samples.length + pause.length;
  }
  return { samples: joined(...parts), said };
}

interface TimedText {
  readonly text: string;
  readonly startMs: number;
}

/** Returns the words of the current version of a transcript. */
async function wordsOf(name: string): Promise<TimedText[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const segments: { words: { word: string; startTime: string }[] }[] = json.segments;
  return segments.flatMap(({ words }) =>
    words.map(({ word, startTime }) => ({
      text: word.trim().toLowerCase(),
      startMs: 1000 * parseFloat(startTime),
    })),
  );
}

/** Fails unless the words begin when they are said. */
function checkTimes(
  words: readonly TimedText[],
  said: readonly SpokenWord[],
  { kept, context }: { readonly kept: ReadonlySet<number>; readonly context: TestContext },
): void {
  const late: string[] = [];
  for (const kind of ["kept", "corrected"] as const) {
    const own = said.flatMap(({ text, startMs }, at) => {
      if (kept.has(at) !== (kind === "kept")) return [];
      return { at, text, startMs, off: Math.abs((words[at]?.startMs ?? Infinity) - startMs) };
    });
    const offs = own.map(({ off }) => off).toSorted((a, b) => a - b);
    const at = (share: number) => offs[Math.floor(share * (offs.length - 1))]?.toFixed(0);
    context.diagnostic(
      `${own.length} words ${kind}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`,
    );
    for (const { at: index, text, startMs, off } of own) {
      if (off <= offMsMax[kind]) continue;
      late.push(`${kind} "${text}" at ${words[index]?.startMs}, not ${startMs.toFixed(0)}`);
    }
  }
  assert.deepEqual(late, []);
}

test("what was recognized is corrected with keys only, and every word begins when it is said", async (context) => {
  const { samples, said } = recording();
  await using host = await openMediaHost({ "/interview.wav": wavOf(samples) });
  const submitted = await submit(pages.service, `${host.address}/interview.wav`);
  const { last } = await pollJob(pages.service, submitted.json.name, 120 * (1 + minutes));
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  const name: string = last.transcript;
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  await using page = await openEditing(pages, name, json.segments.length);
  const { corrections, kept } = correctionsOf(await textsOf(page), said);
  assert.ok(corrections.length >= minutes, "the engine made too few errors");
  const keys = new Keystrokes(page);
  await keys.correct(corrections);
  await keys.press("Control+s");
  await until(async () => (await versionsOf(pages.service, name)).length === 2);
  const words = await wordsOf(name);
  const texts = said.map(({ text }) => text);
  assert.deepEqual(
    words.map(({ text }) => text),
    texts,
  );
  const typed = texts.join(" ").length;
  context.diagnostic(
    `${said.length - kept.size} of ${said.length} words were wrong or missing: ` +
      `${corrections.length} corrections with ${keys.count} keys; the whole text has ${typed}`,
  );
  assert.ok(keys.count <= keysShareMax * typed, `${keys.count} keys for ${typed} characters`);
  checkTimes(words, said, { kept, context });
});
