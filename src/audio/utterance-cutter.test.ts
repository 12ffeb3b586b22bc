import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { espeak, joined } from "../../test/fixtures/flite.ts";
import { type Cut, UtteranceCutter } from "./utterance-cutter.ts";
import { EnergyVoiceActivity } from "./energy-voice-activity.ts";
import { NetworkVoiceActivity } from "./network-voice-activity.ts";
import type { VoiceActivity } from "./voice-activity.ts";

/** Creates an exact detector, for which a frame with a nonzero sample is speech. */
const exactActivity = (): VoiceActivity => ({
  name: "exact",
  frameSamples: 160,
  delayFrames: 0,
  learnedFrames: Infinity,
  isSpeech: (frame) => frame.some((sample) => sample !== 0),
  save: () => [],
  restore() {},
});

interface Utterance {
  readonly startMs: number;
  endMs: number;
  readonly samples: number[];
}

type Input = Int16Array | "end utterance";

function utterancesOf(cuts: Iterable<Cut>): Utterance[] {
  const found: Utterance[] = [];
  for (const cut of cuts) {
    const last = found.at(-1);
    if (cut.kind === "begin") {
      found.push({ startMs: cut.startSample / 16, endMs: Number.NaN, samples: [] });
    } else if (last && cut.kind === "audio") last.samples.push(...cut.samples);
    else if (last && cut.kind === "end") last.endMs = cut.endSample / 16;
  }
  return found;
}

function cutUp(
  inputs: readonly Input[],
  options: { activity?: VoiceActivity; silenceMsMin?: number; utteranceMsMax?: number } = {},
): Utterance[] {
  const { activity = exactActivity(), silenceMsMin = 500, utteranceMsMax = 20_000 } = options;
  const cutter = new UtteranceCutter({ voiceActivity: activity, silenceMsMin, utteranceMsMax });
  const cuts = inputs.flatMap((input) => [
    ...(input === "end utterance" ? cutter.endUtterance() : cutter.push(input)),
  ]);
  return utterancesOf([...cuts, ...cutter.endUtterance()]);
}

const silence = (ms: number) => new Int16Array(ms * 16);
const speech = (ms: number, value = 1) => new Int16Array(ms * 16).fill(value);
const times = (utterances: readonly Utterance[]) =>
  utterances.map(({ startMs, endMs, samples }) => [startMs, endMs, samples.length / 16]);

test("UtteranceCutter cuts where the silence is long enough", () => {
  const rows: [what: string, inputs: Input[], [start: number, end: number, given: number][]][] = [
    ["nothing", [], []],
    ["silence", [silence(5000)], []],
    ["150 ms lead, early too", [silence(800), speech(200)], [[650, 1000, 350]]],
    ["150 ms lead", [silence(2000), speech(200)], [[1850, 2200, 350]]],
    ["150 ms trail", [speech(500), silence(2000)], [[0, 1000, 650]]],
    ["a short pause does not divide", [speech(500), silence(490), speech(500)], [[0, 1490, 1490]]],
    [
      "a long pause divides, and the next utterance has its lead",
      [speech(500), silence(600), speech(500)],
      [
        [0, 1000, 650],
        [950, 1600, 650],
      ],
    ],
    [
      "on demand, and the next one begins immediately",
      [speech(500), "end utterance", speech(300)],
      [
        [0, 500, 500],
        [500, 800, 300],
      ],
    ],
    ["on demand in silence", [silence(500), "end utterance", silence(500)], []],
    ["less than a frame at the end", [speech(20), speech(5)], [[0, 25, 25]]],
  ];
  for (const [what, inputs, expected] of rows) {
    assert.deepEqual(times(cutUp(inputs)), expected, what);
  }
});

test("UtteranceCutter ends an utterance at its maximum length, and the next one begins without a gap", () => {
  const found = cutUp([speech(2500)], { utteranceMsMax: 1000 });
  assert.deepEqual(times(found), [
    [0, 1000, 1000],
    [1000, 2000, 1000],
    [2000, 2500, 500],
  ]);
});

test("UtteranceCutter yields a pause when it begins to hold back silence", () => {
  const kinds = (inputs: readonly Int16Array[], silenceMsMin: number) => {
    const options = { voiceActivity: exactActivity(), silenceMsMin, utteranceMsMax: 20_000 };
    const cutter = new UtteranceCutter(options);
    let audioMs = 0;
    return inputs
      .flatMap((input) => [...cutter.push(input)])
      .flatMap((cut) => {
        if (cut.kind === "audio") audioMs += cut.samples.length / 16;
        if (cut.kind === "audio") return [];
        const left = cut.kind === "pause" ? `, ${cut.samplesToEnd / 16} left` : "";
        return [`${cut.kind} ${audioMs}${left}`];
      });
  };
  const said = [speech(500), silence(140), speech(300), silence(400), speech(100), silence(600)];
  assert.deepEqual(kinds(said, 500), [
    "begin 0",
    "pause 1090, 350 left",
    "pause 1590, 350 left",
    "end 1590",
  ]);
  assert.deepEqual(kinds([speech(500), silence(600)], 150), ["begin 0", "end 650"]);
  assert.deepEqual(kinds([speech(500), silence(600)], 200), [
    "begin 0",
    "pause 650, 50 left",
    "end 650",
  ]);
});

test("UtteranceCutter waits for silenceMsMin", () => {
  const inputs = [speech(500), silence(900), speech(500)];
  assert.equal(cutUp(inputs, { silenceMsMin: 1000 }).length, 1);
  assert.equal(cutUp(inputs, { silenceMsMin: 200 }).length, 2);
});

test("UtteranceCutter yields each sample of an utterance once, in order, for any split into chunks", () => {
  const stretch = fc.record({
    ms: fc.integer({ min: 1, max: 120 }).map((n) => 10 * n),
    loud: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(stretch, { minLength: 1, maxLength: 8 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      (stretches, shares) => {
        let count = 0;
        const stream = Int16Array.from(
          stretches.flatMap(({ ms, loud }) =>
            Array.from({ length: ms * 16 }, () => (loud ? 1 + (count++ % 30_000) : 0)),
          ),
        );
        const edges = shares.map((share) => Math.floor(share * stream.length));
        const sorted = [0, ...edges.toSorted((a, b) => a - b), stream.length];
        const chunks = sorted.slice(1).map((edge, i) => stream.subarray(sorted[i], edge));
        const whole = cutUp([stream]);
        assert.deepEqual(cutUp(chunks), whole);
        const loud = whole.flatMap(({ samples }) => samples.filter((sample) => sample !== 0));
        assert.deepEqual(
          Int16Array.from(loud),
          stream.filter((sample) => sample !== 0),
        );
        for (const { startMs, samples } of whole) {
          const [from, length] = [startMs * 16, samples.length];
          assert.deepEqual(samples, [...stream.subarray(from, from + length)]);
        }
      },
    ),
    { numRuns: 40 },
  );
});

/** Returns steady noise. The sum of four uniform numbers is close to a normal distribution. */
function noise(ms: number, amplitude: number, seed: number): Int16Array {
  let state = seed;
  const random = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32 - 0.5;
  return Int16Array.from({ length: ms * 16 }, () => {
    const value = (random() + random() + random() + random()) * amplitude;
    return Math.max(-32_768, Math.min(32_767, Math.round(value)));
  });
}

/** Returns a simple voice: a buzz of 120 Hz in syllables of 200 ms. */
function buzz(ms: number, amplitude: number): Int16Array {
  return Int16Array.from({ length: ms * 16 }, (_, index) => {
    const syllable = Math.max(0, Math.sin((2 * Math.PI * index) / 3200)) ** 2;
    const pulse = 1 - 2 * (((index * 120) / 16_000) % 1);
    return Math.round(amplitude * syllable * pulse);
  });
}

const detectors = [EnergyVoiceActivity, NetworkVoiceActivity];

test("detectors find no speech in silence or in steady noise, whenever the noise begins", () => {
  const utterancesIn = (...inputs: Int16Array[]) =>
    detectors.flatMap((Detector) => cutUp(inputs, { activity: new Detector() })).length;
  assert.equal(utterancesIn(silence(10_000)), 0);
  for (const amplitude of [1, 3, 10, 100, 1000, 10_000, 60_000]) {
    for (let seed = 1; seed <= 5; seed++) {
      const what = `amplitude ${amplitude}, seed ${seed}`;
      assert.equal(utterancesIn(noise(5000, amplitude, seed)), 0, what);
      assert.equal(
        utterancesIn(silence(1003 * seed), noise(6000, amplitude, seed)),
        0,
        `later: ${what}`,
      );
    }
  }
});

test("EnergyVoiceActivity finds a voice in silence and over noise", () => {
  const mixed = (amplitude: number) => {
    const room = noise(4000, amplitude, 7);
    const voice = buzz(1000, 8000);
    for (const [index, sample] of voice.entries()) {
      const at = 2 * 16_000 + index;
      room[at] = Math.max(-32_768, Math.min(32_767, (room[at] ?? 0) + sample));
    }
    return room;
  };
  for (const amplitude of [0, 10, 100, 600]) {
    const found = cutUp([mixed(amplitude)], { activity: new EnergyVoiceActivity() });
    assert.equal(found.length, 1, `over ${amplitude}`);
    const [start = 0, end = 0] = [found[0]?.startMs, found[0]?.endMs];
    assert.ok(start >= 1500 && start <= 2000, `begins at ${start}`);
    assert.ok(end >= 3400 && end <= 3700, `ends at ${end}`);
  }
});

test("a restored UtteranceCutter continues exactly where the saved one stopped", () => {
  const inputs = fc.array(
    fc.record({ isSpeech: fc.boolean(), length: fc.integer({ min: 1, max: 20_000 }) }),
    { minLength: 2, maxLength: 12 },
  );
  const flat = (cuts: Iterable<Cut>) => utterancesOf(cuts).map((each) => JSON.stringify(each));
  fc.assert(
    fc.property(inputs, fc.boolean(), (parts, isFlushed) => {
      let sample = 0;
      const input = parts.map(({ isSpeech, length }) =>
        Int16Array.from({ length }, () => (isSpeech ? (sample = (sample % 30_000) + 1) : 0)),
      );
      const options = () => ({
        voiceActivity: exactActivity(),
        silenceMsMin: 500,
        utteranceMsMax: 2000,
      });
      let cutter = new UtteranceCutter(options());
      const cuts: Cut[] = [];
      for (const samples of input) {
        cuts.push(...cutter.push(samples));
        if (isFlushed) cuts.push(...cutter.endUtterance());
        if (cutter.isWithinUtterance) {
          assert.throws(() => cutter.save(), /between utterances/);
          continue;
        }
        const saved = JSON.stringify(cutter.save());
        cutter = new UtteranceCutter(options());
        cutter.restore(JSON.parse(saved));
      }
      cuts.push(...cutter.endUtterance());
      const whole = new UtteranceCutter(options());
      const expected = input.flatMap((samples) => [
        ...whole.push(samples),
        ...(isFlushed ? whole.endUtterance() : []),
      ]);
      assert.deepEqual(flat(cuts), flat([...expected, ...whole.endUtterance()]));
    }),
    { numRuns: 200 },
  );
});

test("a UtteranceCutter with another detector continues, and its detector learns from the start", () => {
  const room = (ms: number) => noise(ms, 40, 3);
  const talk = joined(room(1500), espeak("veðrið er gott í dag"), room(1500));
  const cutterWith = (Detector: (typeof detectors)[number]) =>
    new UtteranceCutter({
      voiceActivity: new Detector(),
      silenceMsMin: 500,
      utteranceMsMax: 20_000,
    });
  for (const Saving of detectors) {
    const saving = cutterWith(Saving);
    assert.equal(utterancesOf(saving.push(talk)).length, 1);
    const saved = JSON.stringify(saving.save());
    for (const Restored of detectors) {
      const cutter = cutterWith(Restored);
      cutter.restore(JSON.parse(saved));
      const found = [1, 2].flatMap(() => utterancesOf(cutter.push(talk)));
      const name = `${Saving.name} to ${Restored.name}`;
      assert.equal(found.length, 2, name);
      // Each utterance has the beginning of its speech, which is 1.5 s after that of the talk.
      for (const [index, { startMs }] of found.entries()) {
        const speechMs = ((index + 1) * talk.length) / 16 + 1500;
        assert.ok(startMs < speechMs && startMs > speechMs - 1000, `${name}: ${startMs}`);
      }
    }
  }
});

test("UtteranceCutter begins an utterance before the first sound, even after digital silence", () => {
  for (const [name, gap] of [
    ["digital silence", silence(1500)],
    ["a quiet room", noise(1500, 4, 1)],
  ] as const) {
    for (const Detector of detectors) {
      const talk = joined(gap, espeak("veðrið er gott í dag"), gap, espeak("góðan daginn"), gap);
      const cutter = new UtteranceCutter({
        voiceActivity: new Detector(),
        silenceMsMin: 500,
        utteranceMsMax: 20_000,
      });
      const starts = Array.from(cutter.push(talk)).flatMap((cut) =>
        cut.kind === "begin" ? [cut.startSample] : [],
      );
      assert.equal(starts.length, 2, name);
      for (const start of starts) {
        const sound = talk.findIndex((sample, at) => at >= start && Math.abs(sample) > 60);
        assert.ok(sound - start >= 1600, `${name}: ${(sound - start) / 16} ms before the sound`);
      }
    }
  }
});
