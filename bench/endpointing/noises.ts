import { randomSource } from "./random-source.ts";
import { chatter, powerOf } from "./talk.ts";

const rate = 16_000;
/** The sounds that are mixed with speech; each returns this many samples, at any level. */
export type Noise = (length: number) => Float64Array;

/** Returns random numbers around 0, close to a normal distribution with a deviation of 1. */
function whiteSource(seed: number): () => number {
  const random = randomSource(seed);
  return () => Math.sqrt(3) * (random() + random() + random() + random() - 2);
}

function generated(length: number, next: (seconds: number) => number): Float64Array {
  return Float64Array.from({ length }, (_, at) => next(at / rate));
}

const sine = (hertz: number, seconds: number) => Math.sin(2 * Math.PI * hertz * seconds);

function white(length: number): Float64Array {
  return generated(length, whiteSource(1));
}

/** Returns noise with 3 dB less per octave, from three low-pass filters. */
function pink(length: number): Float64Array {
  const source = whiteSource(2);
  let [slow, middle, fast] = [0, 0, 0];
  return generated(length, () => {
    const value = source();
    slow = 0.997_65 * slow + 0.099 * value;
    middle = 0.963 * middle + 0.2965 * value;
    fast = 0.57 * fast + 1.0527 * value;
    return slow + middle + fast + 0.1848 * value;
  });
}

/** Returns 50 Hz with harmonics up to 2 kHz, as of a bad cable, over a little noise. */
function hum(length: number): Float64Array {
  const source = whiteSource(3);
  const harmonics = Array.from({ length: 40 }, (_, at) => at + 1);
  return generated(length, (seconds) =>
    harmonics.reduce(
      (sum, n) => sum + sine(50 * n, seconds + n * n * 0.001) / n ** 0.9,
      0.02 * source(),
    ),
  );
}

/** Returns a fan: low noise, the tone of its blades, and a slow change of its speed. */
function fan(length: number): Float64Array {
  const source = whiteSource(4);
  let [low, phase] = [0, 0];
  return generated(length, (seconds) => {
    low = 0.95 * low + source();
    phase += (2 * Math.PI * (118 + 3 * sine(0.3, seconds))) / rate;
    const blades = Math.sin(phase) + 0.6 * Math.sin(2 * phase) + 0.4 * Math.sin(3 * phase);
    return low * (1 + 0.15 * sine(0.3, seconds)) + 1.5 * blades;
  });
}

/** Returns keys that are pressed and released at a typist's irregular pace. */
function keyboard(length: number): Float64Array {
  const [random, source] = [randomSource(6), whiteSource(5)];
  const sounds = generated(length, () => 0.003 * source());
  for (let at = 0.2 * rate; at < length;) {
    const strength = 0.5 + random();
    const pitch = 1500 + 2500 * random();
    for (const [delayMs, share] of [
      [0, 1],
      [70 + 40 * random(), 0.5],
    ] as const) {
      const from = Math.floor(at + (delayMs * rate) / 1000);
      for (let n = 0; n < 0.03 * rate && from + n < length; n++) {
        const decay = Math.exp(-n / (0.004 * rate));
        const ring = source() + sine(pitch, n / rate);
        sounds[from + n] = (sounds[from + n] ?? 0) + strength * share * decay * ring;
      }
    }
    at += (random() < 0.12 ? 0.5 + random() : 0.09 + 0.15 * random()) * rate;
  }
  return sounds;
}

/** Returns four chords again and again, with a bass, a melody and drums. */
function music(length: number): Float64Array {
  const [random, source] = [randomSource(7), whiteSource(7)];
  const chords = [
    [220, 261.6, 329.6],
    [174.6, 220, 261.6],
    [261.6, 329.6, 392],
    [196, 246.9, 293.7],
  ];
  const beat = 60 / 104;
  const scale = [440, 493.9, 523.3, 587.3, 659.3, 784];
  const notes = Array.from({ length: Math.ceil(length / rate / beat) * 2 + 2 }, () =>
    random() < 0.3 ? 0 : (scale[Math.floor(random() * scale.length)] ?? 0),
  );
  const string = (hertz: number, seconds: number) =>
    sine(hertz, seconds) + 0.5 * sine(2 * hertz, seconds) + 0.25 * sine(3 * hertz, seconds);
  return generated(length, (seconds) => {
    const beats = seconds / beat;
    const chord = chords[Math.floor(beats / 4) % 4] ?? [];
    const inBeat = (beats % 1) * beat;
    const inHalf = ((2 * beats) % 1) * (beat / 2);
    const vibrato = seconds + 0.0001 * sine(5, seconds);
    const pad = chord.reduce((sum, hertz) => sum + string(hertz, vibrato), 0) * 0.35;
    const bass = sine((chord[0] ?? 0) / 2, seconds) * Math.exp(-3 * inBeat);
    const note = notes[Math.floor(2 * beats)] ?? 0;
    const melody = note === 0 ? 0 : string(note, vibrato) * Math.exp(-4 * inHalf);
    const kick = sine(50 + 60 * Math.exp(-30 * inBeat), inBeat) * Math.exp(-12 * inBeat);
    const isSnare = Math.floor(beats) % 2 === 1;
    const snare = isSnare ? source() * Math.exp(-18 * inBeat) : 0;
    const hat = 0.3 * source() * Math.exp(-60 * inHalf);
    return pad + bass + 0.8 * melody + 1.5 * kick + 0.8 * snare + hat;
  });
}

/** Returns twelve voices that talk at the same time, at different levels, without a pause. */
function babble(length: number): Float64Array {
  const random = randomSource(8);
  const voices = ["slt", "rms", "awb", "en-us", "en-us+f3", "is", "is+f1", "is+m2"];
  const sounds = new Float64Array(length);
  for (let at = 0; at < 12; at++) {
    const voice = chatter(voices[at % voices.length] ?? "slt", 3 * at);
    const gain = (0.5 + random()) / Math.sqrt(powerOf(voice));
    const offset = Math.floor(random() * voice.length);
    for (let n = 0; n < length; n++) {
      sounds[n] = (sounds[n] ?? 0) + gain * (voice[(offset + n) % voice.length] ?? 0);
    }
  }
  return sounds;
}

export const noises: Readonly<Record<string, Noise>> = {
  white,
  pink,
  hum,
  fan,
  keyboard,
  music,
  babble,
};
