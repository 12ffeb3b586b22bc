import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import type { Decoder, Effort, Engine, Hypothesis } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import { EngineSession } from "./engine-session.ts";
import { ReplayBuffer } from "../pool/replay-buffer.ts";
import {
  endUtterance,
  type Recognition,
  type RecognitionInput,
  type SessionInput,
} from "../protocol/recognizer.ts";
import type { Commit } from "../protocol/session-checkpoint.ts";
import { createScriptedEngine } from "../scripted/scripted-engine.ts";

const scripted = createScriptedEngine();
/** The scripted engine with a voice activity that has a long memory. */
const byEnergy: Engine = { ...scripted, createVoiceActivity: () => new EnergyVoiceActivity() };

const options: SessionOptions = {
  languageCode: "is-IS",
  mode: "live",
  sampleRateHertz: 16_000,
  alternativesMax: 2,
  interim: false,
  silenceMsMin: 500,
  punctuation: true,
};

interface Outcome {
  readonly commits: Commit[];
  readonly isDone: boolean;
}

/**
 * Returns the reports of a session for this input. The session is closed after `stepsMax` slices.
 */
function recognize(
  engine: Engine,
  changes: Partial<SessionOptions>,
  input: readonly SessionInput[],
  { from, stepsMax = Infinity }: { from?: Commit | undefined; stepsMax?: number } = {},
): Outcome {
  const commits: Commit[] = [];
  let isDone = false;
  const session = new EngineSession(
    engine,
    { ...options, ...changes },
    {
      interim() {},
      // Converted to JSON and back, as if sent to another process.
      committed: (each) => commits.push(JSON.parse(JSON.stringify(each))),
      progress() {},
      received() {},
      done: () => (isDone = true),
    },
    from?.checkpoint,
  );
  for (const item of input) session.push(item);
  session.endInput();
  for (let steps = 0; steps < stepsMax && session.step() === true; steps++);
  session.close();
  return { commits, isDone };
}

const finalsOf = (commits: readonly Commit[]): Recognition[] =>
  commits.flatMap(({ final }) => final ?? []);

/** Returns the input after this commit. */
function restAfter(
  input: readonly SessionInput[],
  { checkpoint }: Commit,
  rate: number,
): readonly SessionInput[] {
  const buffer = new ReplayBuffer(rate);
  for (const item of input) buffer.push(item);
  buffer.release(checkpoint.position);
  return buffer.items();
}

/** Generates sound with the energy of a voice: alternately loud and soft, over a little noise. */
function voice(ms: number, rate: number): Int16Array {
  const hiss = noise(ms, 60, rate);
  return hiss.map((sample, index) => {
    const seconds = index / rate;
    const loud = 4000 * Math.max(0, Math.sin(2 * Math.PI * 3 * seconds));
    return Math.round(sample + loud * Math.sin(2 * Math.PI * 400 * seconds));
  });
}

type Part = { readonly kind: "speech" | "silence" | "flush" | "effort"; readonly ms: number };

function inputOf(parts: readonly Part[], rate: number, chunkLengths: readonly number[]) {
  const input: SessionInput[] = [];
  let chunk = 0;
  for (const { kind, ms } of parts) {
    if (kind === "flush") {
      input.push(endUtterance);
      continue;
    }
    if (kind === "effort") {
      input.push(ms % 2 === 0 ? "quick" : "full");
      continue;
    }
    const samples = kind === "speech" ? voice(ms, rate) : noise(ms, 60, rate);
    for (let at = 0; at < samples.length;) {
      const length = chunkLengths[chunk++ % chunkLengths.length] ?? 1;
      input.push(samples.subarray(at, at + length));
      at += length;
    }
  }
  return input;
}

/** A decoder that only reports the effort with which its utterances began. */
class EffortDecoder implements Decoder {
  readonly #decoder: Decoder;
  effort: Effort = "quick";

  constructor(decoder: Decoder) {
    this.#decoder = decoder;
  }

  begin(effort: Effort = "quick"): void {
    this.effort = effort;
    this.#decoder.begin();
  }

  accept(samples: Int16Array): void {
    this.#decoder.accept(samples);
  }

  pause(): void {}

  work(): boolean | Promise<void> {
    return this.#decoder.work();
  }

  partial(): Hypothesis | undefined {
    return this.#decoder.partial();
  }

  end(): ReturnType<Decoder["end"]> {
    return this.#decoder.end();
  }

  save(): readonly number[] {
    return this.#decoder.save();
  }

  restore(saved: readonly number[]): void {
    this.#decoder.restore(saved);
  }

  close(): void {
    this.#decoder.close();
  }
}

const byEffort: Engine = {
  ...byEnergy,
  createDecoder: (given) => new EffortDecoder(byEnergy.createDecoder(given)),
};

test("an effort applies to the utterances that begin after it", () => {
  const utterance = [voice(600, 16_000), noise(900, 60, 16_000)];
  const late: SessionInput[] = [voice(300, 16_000), "quick", voice(300, 16_000)];
  const input: SessionInput[] = [
    "full",
    ...utterance,
    ...late,
    noise(900, 60, 16_000),
    ...utterance,
  ];
  const efforts = finalsOf(recognize(byEffort, {}, input).commits).map(({ effort }) => effort);
  assert.deepEqual(efforts, ["full", "full", "quick"]);
});

test("a session that continues from any checkpoint returns exactly the remaining final results", () => {
  const parts = fc.array(
    fc.record({
      kind: fc.constantFrom<Part["kind"][]>(
        "speech",
        "speech",
        "silence",
        "silence",
        "flush",
        "effort",
      ),
      ms: fc.integer({ min: 1, max: 2000 }),
    }),
    { minLength: 3, maxLength: 8 },
  );
  fc.assert(
    fc.property(
      parts,
      fc.constantFrom(8000, 16_000, 44_100, 44_099, 48_000),
      fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 }),
      fc.record({
        silenceMsMin: fc.constantFrom(200, 500, 1000),
        utteranceMsMax: fc.constantFrom(1000, 10_000),
      }),
      fc.integer({ min: 0, max: 60 }),
      (spoken, sampleRateHertz, chunkLengths, endpointing, stepsMax) => {
        const changes = { sampleRateHertz, ...endpointing };
        const input = inputOf(spoken, sampleRateHertz, chunkLengths);
        const whole = recognize(byEffort, changes, input);
        assert.ok(whole.isDone);
        for (const [index, from] of whole.commits.entries()) {
          const rest = restAfter(input, from, sampleRateHertz);
          // The session that takes over is also lost.
          const second = recognize(byEffort, changes, rest, { from, stepsMax }).commits;
          const last = second.at(-1) ?? from;
          const third = recognize(byEffort, changes, restAfter(input, last, sampleRateHertz), {
            from: last,
          });
          assert.ok(third.isDone);
          assert.deepEqual(
            finalsOf([...whole.commits.slice(0, index + 1), ...second, ...third.commits]),
            finalsOf(whole.commits),
          );
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a session commits after every utterance and after every 10 s of silence", () => {
  const input: RecognitionInput[] = [
    speech(700),
    silence(1000),
    silence(34_000),
    speech(300),
    endUtterance,
  ];
  const { commits } = recognize(scripted, {}, input);
  assert.deepEqual(
    commits.map(({ final, checkpoint }) => [
      checkpoint.position.samples / 16_000,
      checkpoint.position.flushMarkers,
      final !== undefined,
    ]),
    [
      [1.2, 0, true],
      [11.2, 0, false],
      [21.2, 0, false],
      [31.2, 0, false],
      [36, 1, true],
    ],
  );
});

test("a checkpoint is small for any audio", () => {
  for (const sampleRateHertz of [16_000, 44_099, 48_000]) {
    const input = inputOf(
      [
        { kind: "speech", ms: 15_000 },
        { kind: "silence", ms: 15_000 },
      ],
      sampleRateHertz,
      [4800],
    );
    const { commits } = recognize(byEnergy, { sampleRateHertz }, input);
    assert.ok(commits.length >= 3);
    for (const { checkpoint } of commits) {
      const { length } = JSON.stringify(checkpoint);
      assert.ok(length < 30_000, `${sampleRateHertz}: ${length} characters`);
    }
  }
});

test("a session that continues after the last final result returns no more results", () => {
  const input = [joined(speech(500), silence(100))];
  const { commits } = recognize(scripted, { sampleRateHertz: 8000 }, input);
  const last = commits.at(-1);
  assert.ok(last?.final);
  const again = recognize(scripted, { sampleRateHertz: 8000 }, restAfter(input, last, 8000), {
    from: last,
  });
  assert.deepEqual(again, { commits: [], isDone: true });
});
