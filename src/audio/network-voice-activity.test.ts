import assert from "node:assert/strict";
import { test } from "node:test";
import { noises } from "../../bench/endpointing/noises.ts";
import { powerOf } from "../../bench/endpointing/talk.ts";
import { espeak, flite, joined, noise, silence } from "../../test/fixtures/flite.ts";
import { EnergyVoiceActivity } from "./energy-voice-activity.ts";
import { NetworkVoiceActivity } from "./network-voice-activity.ts";
import { chunkSamples, SpeechNetwork } from "./speech-network.ts";
import { UtteranceCutter } from "./utterance-cutter.ts";
import type { VoiceActivity } from "./voice-activity.ts";

const voice = flite("Please send me the report before the end of the week", { voice: "rms" });

/** Returns samples with a noise whose power is this far below that of the voice. */
function withNoise(samples: Int16Array, name: string, ratioDb: number): Int16Array {
  const room = noises[name]?.(samples.length) ?? assert.fail(name);
  const gain = Math.sqrt(powerOf(voice) / powerOf(room) / 10 ** (ratioDb / 10));
  return samples.map((sample, at) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample + gain * (room[at] ?? 0)))),
  );
}

/** Returns the starts and ends of the utterances in milliseconds. */
function utterancesIn(voiceActivity: VoiceActivity, samples: Int16Array): number[] {
  const cutter = new UtteranceCutter({ voiceActivity, silenceMsMin: 500, utteranceMsMax: 20_000 });
  return Array.from([...cutter.push(samples), ...cutter.endUtterance()]).flatMap((cut) =>
    cut.kind === "begin" ? [cut.startSample / 16] : cut.kind === "end" ? [cut.endSample / 16] : [],
  );
}

test("NetworkVoiceActivity cuts out a voice in loud noise, music and typing", () => {
  const talk = joined(silence(2000), voice, silence(2500));
  const voiceMs = [2140, 2000 + voice.length / 16];
  const rows: [name: string, ratioDb: number][] = [
    ["white", 5],
    ["pink", 3],
    ["hum", 0],
    ["fan", 3],
    ["music", 6],
    ["keyboard", 0],
  ];
  const found = rows.map(([name, ratioDb]) => {
    const samples = withNoise(talk, name, ratioDb);
    const [start = NaN, end = NaN, ...more] = utterancesIn(new NetworkVoiceActivity(), samples);
    const what = `${name} at ${ratioDb} dB: ${start} to ${end} ms`;
    assert.deepEqual(more, [], what);
    assert.ok(start <= (voiceMs[0] ?? 0) && start >= (voiceMs[0] ?? 0) - 700, what);
    assert.ok(end >= (voiceMs[1] ?? 0) + 200 && end <= (voiceMs[1] ?? 0) + 1100, what);
    return utterancesIn(new EnergyVoiceActivity(), samples).length;
  });
  // Energy finds nothing in loud noise, and typing does not end for it.
  assert.ok(found.some((count) => count !== 2));
});

test("NetworkVoiceActivity finds one soft short word at the start of a stream", () => {
  const word = flite("No", { voice: "slt" }).map((sample) => Math.round(sample / 20));
  assert.equal(utterancesIn(new NetworkVoiceActivity(), joined(word, noise(1500, 4))).length, 2);
});

class CountingNetwork extends SpeechNetwork {
  runs = 0;

  override judge(...judged: Parameters<SpeechNetwork["judge"]>): number {
    this.runs += 1;
    return super.judge(...judged);
  }
}

test("NetworkVoiceActivity runs its network only while there is sound above the noise floor", () => {
  const network = new CountingNetwork();
  const runsIn = (samples: Int16Array): number => {
    const before = network.runs;
    utterancesIn(new NetworkVoiceActivity(network), samples);
    return (network.runs - before) / (samples.length / chunkSamples);
  };
  assert.equal(runsIn(silence(20_000)), 0);
  for (const amplitude of [1, 30, 1000, 20_000]) {
    const share = runsIn(noise(20_000, amplitude));
    assert.ok(share < 0.02, `${share} of the chunks of noise with ${amplitude}`);
  }
  const share = runsIn(joined(noise(4000, 30), espeak("góðan daginn"), noise(4000, 30)));
  assert.ok(share > 0.05 && share < 0.3, `${share} of the chunks with a word`);
});

test("NetworkVoiceActivity gives the network the samples before each chunk", () => {
  const contexts: Int16Array[] = [];
  const chunks: Int16Array[] = [];
  class WatchedNetwork extends SpeechNetwork {
    override judge(...[context, chunk, state]: Parameters<SpeechNetwork["judge"]>): number {
      contexts.push(context.slice());
      chunks.push(chunk.slice());
      return super.judge(context, chunk, state);
    }
  }
  utterancesIn(new NetworkVoiceActivity(new WatchedNetwork()), joined(noise(1000, 30), voice));
  assert.ok(chunks.length > 50);
  for (const [index, context] of contexts.entries()) {
    const before = chunks[index - 1];
    if (before) assert.deepEqual(context, before.subarray(chunkSamples - context.length));
    assert.equal(context.length, 64);
  }
});

test("a restored NetworkVoiceActivity continues exactly, also while its network runs", () => {
  const talk = joined(noise(700, 30), voice, noise(900, 30), noise(400, 3000), silence(500));
  const whole = new NetworkVoiceActivity();
  const frames = Array.from({ length: Math.floor(talk.length / 160) }, (_, at) =>
    talk.subarray(160 * at, 160 * (at + 1)),
  );
  const isSpeech: boolean[] = [];
  const saved = frames.map((frame) => {
    const text = JSON.stringify(whole.save());
    isSpeech.push(whole.isSpeech(frame));
    return text;
  });
  saved.push(JSON.stringify(whole.save()));
  // A detector with the same state as the other continues as it does.
  const checkedFrames = 20;
  for (let from = 0; from < frames.length; from += 7) {
    const fresh = new NetworkVoiceActivity();
    fresh.restore(JSON.parse(saved[from] ?? ""));
    const to = Math.min(frames.length, from + checkedFrames);
    const rest = frames.slice(from, to).map((frame) => fresh.isSpeech(frame));
    assert.deepEqual(rest, isSpeech.slice(from, to), `from frame ${from}`);
    assert.equal(JSON.stringify(fresh.save()), saved[to], `after frame ${from}`);
  }
  assert.ok(isSpeech.filter(Boolean).length > 100);
});
