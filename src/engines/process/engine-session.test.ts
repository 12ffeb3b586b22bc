import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EnergyVoiceActivity } from "../../audio/voice-activity.ts";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import type { Engine } from "../protocol/engine.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import { EngineSession } from "./engine-session.ts";
import { KeptInput } from "../pool/kept-input.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "../protocol/recognizer.ts";
import type { Settled } from "../protocol/session-checkpoint.ts";
import { createScriptedEngine } from "../scripted/scripted-engine.ts";

const scripted = createScriptedEngine();
/** The same words, with a voice activity that remembers much. */
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

interface Heard {
  readonly settled: Settled[];
  readonly isDone: boolean;
}

/** What a session tells of this input; after `stepsMax` slices it is dropped where it is. */
function hear(
  engine: Engine,
  changes: Partial<SessionOptions>,
  input: readonly RecognitionInput[],
  { from, stepsMax = Infinity }: { from?: Settled | undefined; stepsMax?: number } = {},
): Heard {
  const settled: Settled[] = [];
  let isDone = false;
  const session = new EngineSession(
    engine,
    { ...options, ...changes },
    {
      interim() {},
      // Through JSON, as to another process.
      settled: (each) => settled.push(JSON.parse(JSON.stringify(each))),
      heard() {},
      done: () => (isDone = true),
    },
    from?.checkpoint,
  );
  for (const item of input) session.push(item);
  session.endInput();
  for (let steps = 0; steps < stepsMax && session.step() === true; steps++);
  session.close();
  return { settled, isDone };
}

const finalsOf = (settled: readonly Settled[]): Recognition[] =>
  settled.flatMap(({ final }) => final ?? []);

/** The rest of the input from where this was settled. */
function restAfter(
  input: readonly RecognitionInput[],
  { checkpoint }: Settled,
  rate: number,
): readonly RecognitionInput[] {
  const kept = new KeptInput(rate);
  for (const item of input) kept.push(item);
  kept.release(checkpoint.position);
  return kept.items();
}

/** A voice as energy hears one: loud and soft by turns, over a little noise. */
function voice(ms: number, rate: number): Int16Array {
  const hiss = noise(ms, 60, rate);
  return hiss.map((sample, index) => {
    const seconds = index / rate;
    const loud = 4000 * Math.max(0, Math.sin(2 * Math.PI * 3 * seconds));
    return Math.round(sample + loud * Math.sin(2 * Math.PI * 400 * seconds));
  });
}

type Part = { readonly kind: "speech" | "silence" | "mark"; readonly ms: number };

function inputOf(parts: readonly Part[], rate: number, chunkLengths: readonly number[]) {
  const input: RecognitionInput[] = [];
  let chunk = 0;
  for (const { kind, ms } of parts) {
    if (kind === "mark") {
      input.push(endUtterance);
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

test("another session that goes on from any checkpoint gives the rest of the finals, exactly", () => {
  const parts = fc.array(
    fc.record({
      kind: fc.constantFrom<Part["kind"][]>("speech", "speech", "silence", "silence", "mark"),
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
        const whole = hear(byEnergy, changes, input);
        assert.ok(whole.isDone);
        for (const [index, from] of whole.settled.entries()) {
          const rest = restAfter(input, from, sampleRateHertz);
          // The first that takes over dies too, somewhere.
          const second = hear(byEnergy, changes, rest, { from, stepsMax }).settled;
          const last = second.at(-1) ?? from;
          const third = hear(byEnergy, changes, restAfter(input, last, sampleRateHertz), {
            from: last,
          });
          assert.ok(third.isDone);
          assert.deepEqual(
            finalsOf([...whole.settled.slice(0, index + 1), ...second, ...third.settled]),
            finalsOf(whole.settled),
          );
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a checkpoint comes with every utterance and within every 10 s of silence", () => {
  const input: RecognitionInput[] = [
    speech(700),
    silence(1000),
    silence(34_000),
    speech(300),
    endUtterance,
  ];
  const { settled } = hear(scripted, {}, input);
  assert.deepEqual(
    settled.map(({ final, checkpoint }) => [
      checkpoint.position.samples / 16_000,
      checkpoint.position.marks,
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

test("a checkpoint is small, whatever was heard", () => {
  for (const sampleRateHertz of [16_000, 44_099, 48_000]) {
    const input = inputOf(
      [
        { kind: "speech", ms: 15_000 },
        { kind: "silence", ms: 15_000 },
      ],
      sampleRateHertz,
      [4800],
    );
    const { settled } = hear(byEnergy, { sampleRateHertz }, input);
    assert.ok(settled.length >= 3);
    for (const { checkpoint } of settled) {
      const { length } = JSON.stringify(checkpoint);
      assert.ok(length < 30_000, `${sampleRateHertz}: ${length} characters`);
    }
  }
});

test("a session that died after its last final says nothing more", () => {
  const input = [joined(speech(500), silence(100))];
  const { settled } = hear(scripted, { sampleRateHertz: 8000 }, input);
  const last = settled.at(-1);
  assert.ok(last?.final);
  const again = hear(scripted, { sampleRateHertz: 8000 }, restAfter(input, last, 8000), {
    from: last,
  });
  assert.deepEqual(again, { settled: [], isDone: true });
});

test("what is heard and spoken is counted", () => {
  const session = new EngineSession(scripted, options, {
    interim() {},
    settled() {},
    heard() {},
    done() {},
  });
  session.push(joined(silence(2000), speech(1000), silence(2000)));
  while (session.step() === true);
  assert.equal(session.heardSeconds, 5);
  // With 150 ms before and after it, in whole frames of 20 ms.
  assert.equal(session.spokenSeconds, 1.28);
  session.close();
});

test("an utterance of a recording is recognized as its decoder works, not as it is taken", () => {
  const told: number[] = [];
  let toldBefore = Infinity;
  const slow: Engine = {
    ...scripted,
    createDecoder(how) {
      const decoder = scripted.createDecoder(how);
      return Object.assign(decoder, {
        work: () => false,
        // A slice for each 100 ms of about three seconds.
        *end() {
          toldBefore = told.at(-1) ?? 0;
          for (let slice = 0; slice < 30; slice++) yield;
          return [];
        },
      });
    },
  };
  const session = new EngineSession(
    slow,
    { ...options, mode: "job" },
    {
      interim() {},
      settled() {},
      heard() {},
      recognized: (samples) => told.push(samples / 16),
      done() {},
    },
  );
  session.push(joined(silence(1000), speech(3000), silence(2000)));
  const atOnce: number[] = [];
  for (let steps = 0; session.step() === true; steps++) {
    if (told.at(-1) !== atOnce.at(-1)) atOnce.push(told.at(-1) ?? 0);
    assert.ok((told.at(-1) ?? 0) <= session.heardSeconds * 1000);
  }
  assert.deepEqual(atOnce, told, "each of them between two slices");
  assert.ok(toldBefore <= 1000, `${toldBefore} ms before any of it was decoded`);
  assert.ok(told.length >= 9 && (told.at(-1) ?? 0) > 5500, told.join());
});

test("what has only just come does not count as queued, what is left over does", () => {
  const session = new EngineSession(scripted, options, {
    interim() {},
    settled() {},
    heard() {},
    done() {},
  });
  const queued = () => session.takeLeastQueuedSeconds();
  session.push(speech(1000));
  assert.equal(queued(), 0);
  assert.equal(queued(), 1);
  assert.deepEqual([session.step(), session.step()], [true, true]);
  session.push(speech(2000));
  assert.equal(queued(), 0.8);
  assert.equal(queued(), 2.8);
  while (session.step() === true);
  session.push(speech(1000));
  assert.equal(queued(), 0);
  session.close();
});
