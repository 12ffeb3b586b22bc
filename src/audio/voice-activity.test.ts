import assert from "node:assert/strict";
import { test } from "node:test";
import { flite, joined, silence } from "../../test/fixtures/flite.ts";
import { EnergyVoiceActivity } from "./energy-voice-activity.ts";
import { NetworkVoiceActivity } from "./network-voice-activity.ts";
import type { VoiceActivity } from "./voice-activity.ts";

const detectors: readonly (new () => VoiceActivity)[] = [EnergyVoiceActivity, NetworkVoiceActivity];

const rate = 16_000;
type Sound = (seconds: number) => number;

/** Returns a function that returns random numbers around 0, close to a normal distribution. */
function noiseSource(): () => number {
  let state = 7;
  const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32 - 0.5;
  return () => next() + next() + next() + next();
}

function pink(): Sound {
  const white = noiseSource();
  let [slow, middle, fast] = [0, 0, 0];
  return () => {
    const value = white();
    slow = 0.997_65 * slow + 0.099 * value;
    middle = 0.963 * middle + 0.2965 * value;
    fast = 0.57 * fast + 1.0527 * value;
    return (slow + middle + fast + 0.1848 * value) / 3;
  };
}

function brown(): Sound {
  const white = noiseSource();
  let value = 0;
  return () => (value = 0.998 * value + 0.06 * white());
}

/** Returns bursts of 20 ms, 60 to 160 ms apart. */
function typing(): Sound {
  const white = noiseSource();
  let [next, end] = [0, 0];
  return (seconds) => {
    if (seconds > next) {
      end = seconds + 0.02;
      next = end + 0.1 + 0.02 * white();
    }
    return (seconds < end ? 1 : 0.001) * white();
  };
}

const sine = (hertz: number, seconds: number) => Math.sin(2 * Math.PI * hertz * seconds);
const instrument = (hertz: number, seconds: number) =>
  sine(hertz, seconds) + sine(2 * hertz, seconds) / 2 + sine(3 * hertz, seconds) / 4;
const notes = [262, 294, 330, 349, 392, 440, 494, 523];
const noteAt = (place: number) => notes[Math.floor(place) % notes.length] ?? 0;

const noSpeech: Readonly<Record<string, () => Sound>> = {
  "white noise": () => noiseSource(),
  "pink noise": pink,
  "brown noise": brown,
  "mains hum": () => (t) => sine(50, t) + 0.4 * sine(150, t) + 0.2 * sine(250, t),
  "mains hum of 60 Hz": () => (t) => sine(60, t) + 0.3 * sine(180, t),
  clicks: () => {
    const white = noiseSource();
    return (t) => (t % 0.5 < 0.005 ? 1 : 0.001) * white();
  },
  typing,
  "a tone": () => (t) => sine(440, t),
  "a chord": () => (t) => instrument(262, t) + instrument(330, t) + instrument(392, t),
  "a plucked melody": () => (t) => instrument(noteAt(3 * t), t) * Math.exp(-3 * (t % (1 / 3))),
  "a held melody": () => (t) => instrument(noteAt(2 * t), t),
  "a telephone that rings": () => (t) => (t % 3 < 1 ? sine(440, t) + sine(480, t) : 0),
  "a telephone that dials": () => (t) => (t % 0.2 < 0.1 ? sine(770, t) + sine(1336, t) : 0),
  "a siren": () => (t) => Math.sin(2 * Math.PI * (700 * t + 100 * Math.sin(Math.PI * t))),
  "noise that swells": () => {
    const white = noiseSource();
    return (t) => white() * (1 + 0.5 * sine(1, t));
  },
  "noise that sets in": () => {
    const white = noiseSource();
    return (t) => white() * (t < 3 ? 0.03 : 1);
  },
};

/** Returns six seconds of a sound with the root mean square `level`, clipped to 16 bits. */
function samplesOf(sound: Sound, level: number): Int16Array {
  const values = Float64Array.from({ length: 6 * rate }, (_, index) => sound(index / rate));
  const power = values.reduce((sum, value) => sum + value * value, 0) / values.length;
  const gain = level / Math.sqrt(power);
  return Int16Array.from(values, (value) =>
    Math.max(-32_768, Math.min(32_767, Math.round(gain * value))),
  );
}

/** Returns the indexes of the 10 ms frames that are speech. */
function speechFrames(Detector: new () => VoiceActivity, samples: Int16Array): number[] {
  const activity = new Detector();
  const frames: number[] = [];
  for (let at = 0, frame = 0; at + 160 <= samples.length; at += 160, frame++) {
    if (activity.isSpeech(samples.subarray(at, at + 160))) frames.push(frame);
  }
  return frames;
}

for (const Detector of detectors) {
  test(`${Detector.name} finds no speech in sounds other than speech, at any level`, () => {
    for (const [name, make] of Object.entries(noSpeech)) {
      for (const level of [1, 30, 8000]) {
        const samples = samplesOf(make(), level);
        assert.deepEqual(speechFrames(Detector, samples), [], `${name} at ${level}`);
        const later = speechFrames(Detector, joined(silence(1234), samples));
        assert.deepEqual(later, [], `${name} at ${level} after silence`);
      }
    }
  });

  test(`${Detector.name} finds speech in a quiet room and over noise`, () => {
    const voice = flite("Please send me the report before the end of the week", { voice: "rms" });
    const power = voice.reduce((sum, sample) => sum + sample * sample, 0) / voice.length;
    const rows: [noise: string, signalToNoiseDb: number, volume: number][] = [
      ["white noise", 60, 1],
      ["white noise", 60, 0.1],
      ["white noise", 60, 0.02],
      ["white noise", 20, 1],
      ["white noise", 12, 1],
      ["pink noise", 15, 0.1],
      ["brown noise", 10, 1],
      ["mains hum", 6, 1],
      ["mains hum", 6, 0.05],
    ];
    for (const [name, signalToNoiseDb, volume] of rows) {
      const level = Math.sqrt(power) / 10 ** (signalToNoiseDb / 20);
      const room = samplesOf((noSpeech[name] ?? brown)(), level);
      const from = 2 * rate;
      const mixed = room.map((sample, index) => {
        const said = voice[index - from] ?? 0;
        return Math.max(-32_768, Math.min(32_767, Math.round(volume * (sample + said))));
      });
      const frames = speechFrames(Detector, mixed);
      const what = `over ${name} at ${signalToNoiseDb} dB, volume ${volume}`;
      const [first = 0, last = 0] = [frames[0], frames.at(-1)];
      // flite's output begins with 140 ms of silence, and ends with a soft sound.
      assert.ok(first >= 200 && first <= 260, `${what}: begins at ${10 * first} ms`);
      const endFrame = 200 + voice.length / 160;
      assert.ok(last >= endFrame - 60 && last <= endFrame + 5, `${what}: ends at ${10 * last} ms`);
      const share = frames.length / (voice.length / 160);
      assert.ok(share > 0.5, `${what}: ${frames.length} frames`);
    }
  });

  test(`${Detector.name} ends speech before its echo ends, and finds soft speech after loud speech`, () => {
    const voice = flite("They found the missing keys", { voice: "rms" });
    const room = samplesOf(noiseSource(), 1).subarray(0, 2 * rate);
    const white = noiseSource();
    // The echo begins 12 dB below the voice and fades by 75 dB per second.
    const echo = Int16Array.from({ length: rate }, (_, at) =>
      Math.round(500 * 10 ** ((-75 * at) / rate / 20) * white()),
    );
    const soft = voice.map((sample) => Math.round(sample / 100));
    const frames = speechFrames(Detector, joined(room, voice, echo, soft));
    const [voiceEnd, softStart] = [room.length + voice.length, room.length + voice.length + rate];
    const last = frames.findLast((frame) => frame * 160 < softStart) ?? 0;
    assert.ok(
      last <= voiceEnd / 160 + 25,
      `ends ${10 * (last - voiceEnd / 160)} ms after the voice`,
    );
    const found = frames.filter((frame) => frame * 160 >= softStart).length;
    assert.ok(found > (0.4 * soft.length) / 160, `${found} frames of soft speech`);
  });

  test(`${Detector.name} learns the noise floor again after the input was muted`, () => {
    const voice = flite("They found the missing keys", { voice: "rms" });
    const room = samplesOf(pink(), 100);
    const activity = new Detector();
    const learned: number[] = [];
    const frames: number[] = [];
    const stream = joined(
      samplesOf(pink(), 10),
      silence(300),
      room.subarray(0, 24_000),
      voice.map((sample, index) => sample + (room[index] ?? 0)),
    );
    for (let at = 0, frame = 0; at + 160 <= stream.length; at += 160, frame++) {
      if (activity.isSpeech(stream.subarray(at, at + 160))) frames.push(frame);
      learned.push(activity.learnedFrames);
    }
    // The stream has 6 s of one room, 0.3 s of muted input, 1.5 s of another room that is ten times
    // as loud, and then the voice.
    assert.ok((learned[599] ?? 0) >= 600);
    assert.ok((learned[640] ?? NaN) <= 20, `${learned[640]} frames`);
    assert.ok((frames[0] ?? 0) >= 780, `begins at ${frames[0]}`);
    assert.ok(frames.length > 80, `${frames.length} frames`);
  });
}
