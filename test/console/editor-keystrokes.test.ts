// A recording of two voices, which a real engine transcribes with errors, is corrected with keys
// only: its words, and who says them. KEYSTROKES_MINUTES sets the length of the recording; the gate
// takes one minute, npm run test:long ten.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { sentences } from "../../bench/sentences.ts";
import type { TranscriptJson } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fliteWords, joined, noise, type SpannedSpeech } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { openEditing, textsOf } from "./edited-page.ts";
import { versionsOf } from "./edited-transcript.ts";
import { Keystrokes } from "./keystrokes.ts";
import { setSpeakers } from "./speaker-keystrokes.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { correctionsOf, type SpokenWord } from "./word-corrections.ts";

const minutes = Number(process.env["KEYSTROKES_MINUTES"] ?? 1);
/** How long the engine may take for a minute, on a machine that is busy with other work. */
const recognitionSecondsMax = 240;
const sampleRate = 16_000;
const voices = ["slt", "rms"] as const;
/** The name of the speaker with each voice. */
const names: Readonly<Record<string, string>> = { slt: "Sue Low", rms: "Rob Mills" };
const pausesMs = [300, 700, 450, 900, 550];
/** The maximum difference between when a word begins or ends, and when it does so in the speech. */
const offMsMax = { kept: 300, corrected: 500 } as const;
/** The maximum number of keys that correct words, as a share of the characters of the text. */
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
  const spoken = new Map<string, SpannedSpeech>();
  const { length } = sentences;
  for (let at = 0, sentence = 0; at < minutes * 60 * sampleRate; sentence += 1) {
    const round = Math.floor(sentence / length);
    const text = (sentences[(sentence * 7 + round) % length] ?? "").replaceAll(/[^\w' ]/g, "");
    const voice = voices[(sentence + round) % voices.length] ?? "slt";
    const speech = spoken.get(voice + text) ?? fliteWords(text, voice);
    spoken.set(voice + text, speech);
    const { samples, words } = speech;
    const atMs = (1000 * at) / sampleRate;
    for (const { text, startMs, endMs } of words) {
      said.push({ text, sentence, voice, startMs: atMs + startMs, endMs: atMs + endMs });
    }
    const pause = noise(pausesMs[sentence % pausesMs.length] ?? 500, 4);
    parts.push(samples, pause);
    at += samples.length + pause.length;
  }
  return { samples: joined(...parts), said };
}

interface SavedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The full name of the speaker. */
  readonly speaker: string | undefined;
}

/** Returns the words of the current version of a transcript. */
async function wordsOf(name: string): Promise<SavedWord[]> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  const { segments, metadata }: TranscriptJson = json;
  return (segments ?? []).flatMap(({ words = [], speakerId = "" }) =>
    words.map(({ word = "", startTime = "", endTime = "" }) => ({
      text: word.trim().toLowerCase(),
      startMs: 1000 * parseFloat(startTime),
      endMs: 1000 * parseFloat(endTime),
      speaker: metadata?.speakers?.[speakerId]?.fullName,
    })),
  );
}

/** Fails unless the words begin and end when they do so in the speech. */
function checkTimes(
  words: readonly SavedWord[],
  said: readonly SpokenWord[],
  { kept, context }: { readonly kept: ReadonlySet<number>; readonly context: TestContext },
): void {
  const late: string[] = [];
  for (const kind of ["kept", "corrected"] as const) {
    for (const edge of ["startMs", "endMs"] as const) {
      const own = said.flatMap((word, at) => {
        if (kept.has(at) !== (kind === "kept")) return [];
        const isAt = words[at]?.[edge] ?? Infinity;
        return { text: word.text, saidAt: word[edge], isAt, off: Math.abs(isAt - word[edge]) };
      });
      const offs = own.map(({ off }) => off).toSorted((a, b) => a - b);
      const at = (share: number) => offs[Math.floor(share * (offs.length - 1))]?.toFixed(0);
      context.diagnostic(
        `${edge} of ${own.length} words ${kind}: ` +
          `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`,
      );
      for (const { text, saidAt, isAt, off } of own) {
        if (off <= offMsMax[kind]) continue;
        late.push(`${kind} ${edge} of "${text}" is ${isAt}, not ${saidAt.toFixed(0)}`);
      }
    }
  }
  assert.deepEqual(late, []);
}

// The recording is spoken and recognized first, which alone takes two minutes on a busy machine.
const timeout = (360 + recognitionSecondsMax * minutes) * 1_000;
test(
  "what was recognized is corrected with keys only, and every word has its times and its speaker",
  { timeout },
  async (context) => {
    const clock = clockOf(context);
    const { samples, said } = recording();
    clock("spoken");
    await using host = await openMediaHost({ "/interview.wav": wavOf(samples) });
    const submitted = await submit(pages.service, `${host.address}/interview.wav`);
    const { last } = await pollJob(
      pages.service,
      submitted.json.name,
      recognitionSecondsMax * minutes,
    );
    assert.equal(last.state, "SUCCESS", JSON.stringify(last));
    clock("recognized");
    const name: string = last.transcript;
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    await using page = await openEditing(pages, name, json.segments.length);
    const { corrections, kept } = correctionsOf(await textsOf(page), said);
    assert.ok(corrections.length >= minutes, "the engine made too few errors");
    const keys = new Keystrokes(page);
    await keys.correct(corrections);
    const forWords = keys.count;
    clock("words corrected");
    const divided = await setSpeakers(page, keys, { said, names });
    clock("speakers set");
    await keys.press("Control+s");
    await until(async () => (await versionsOf(pages.service, name)).length === 2);
    const words = await wordsOf(name);
    assert.deepEqual(
      words.map(({ text, speaker }) => ({ text, speaker })),
      said.map(({ text, voice }) => ({ text, speaker: names[voice] })),
    );
    const typed = said.map(({ text }) => text).join(" ").length;
    context.diagnostic(
      `${said.length - kept.size} of ${said.length} words were wrong or missing: ` +
        `${corrections.length} corrections with ${forWords} keys; the whole text has ${typed}`,
    );
    context.diagnostic(
      `the speakers of ${divided} paragraphs took ${keys.count - forWords - 1} keys`,
    );
    assert.ok(forWords <= keysShareMax * typed, `${forWords} keys for ${typed} characters`);
    checkTimes(words, said, { kept, context });
  },
);

/** Returns a function that reports the time since it was called last. */
function clockOf(context: TestContext): (what: string) => void {
  let before = performance.now();
  return (what) => {
    context.diagnostic(`${what} in ${((performance.now() - before) / 1000).toFixed(1)} s`);
    before = performance.now();
  };
}
