import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { EnginePool } from "../src/engines/engine-pool.ts";
import { EngineSession } from "../src/engines/engine-session.ts";
import {
  endUtterance,
  type Recognition,
  type RecognitionInput,
  type RecognitionOptions,
} from "../src/engines/recognizer.ts";
import { createScriptedEngine } from "../src/engines/scripted-engine.ts";
import { silence } from "./flite.ts";
import { pauseMsAfter } from "./until.ts";

/** A stream for the scripted engine; the other options have their defaults. */
export const scriptedOptions = {
  languageCode: "is-IS",
  mode: "live",
  sampleRateHertz: 16_000,
} as const;

/** What the scripted engine takes for speech. */
export const speech = (ms: number, rate = 16_000) => silence(ms, rate).fill(1000);

/** Anything waited for comes within this time, or never. */
const limitMs = 20_000;

/** Everything that comes of this input. */
export async function recognise(
  from: EnginePool,
  input: Iterable<RecognitionInput> | AsyncIterable<RecognitionInput>,
  changes: Partial<RecognitionOptions> = {},
): Promise<Recognition[]> {
  const found = [];
  for await (const recognition of from.recognize(input, { ...scriptedOptions, ...changes })) {
    found.push(recognition);
  }
  return found;
}

/** The finals of this input where no process can get lost: heard right here. */
export function finalsWithoutPool(
  input: readonly RecognitionInput[],
  changes: Partial<RecognitionOptions> = {},
): Recognition[] {
  const { signal: _signal, ...rest } = changes;
  const defaults = { alternativesMax: 1, interim: false, silenceMsMin: 500, punctuation: true };
  const finals: Recognition[] = [];
  const session = new EngineSession(
    createScriptedEngine(),
    { ...scriptedOptions, ...defaults, ...rest },
    {
      interim() {},
      settled: ({ final }) => {
        if (final) finals.push(final);
      },
      heard() {},
      done() {},
    },
  );
  for (const item of input) session.push(item);
  session.endInput();
  while (session.step() === true);
  session.close();
  return finals;
}

/** Waits for something that becomes true by itself. */
export async function until(
  isTrue: () => boolean,
  what: string | (() => string),
  msMax = limitMs,
): Promise<void> {
  const endsAt = performance.now() + msMax;
  for (;;) {
    const startMs = performance.now();
    if (isTrue()) return;
    const nowMs = performance.now();
    if (nowMs >= endsAt) {
      assert.fail(`not within ${msMax} ms: ${typeof what === "string" ? what : what()}`);
    }
    await delay(pauseMsAfter(nowMs - startMs));
  }
}

/** That what was told as recognised of this input, at 16 kHz, only rises, and ends within half a second of its end. */
export function assertRising(told: readonly number[], input: readonly RecognitionInput[]): void {
  const samples = input.map((item) => (item === endUtterance ? 0 : item.length));
  const ms = samples.reduce((sum, length) => sum + length, 0) / 16;
  const lastMs = told.at(-1) ?? 0;
  assert.ok(lastMs <= ms && lastMs > ms - 500, `${lastMs} of ${ms} ms recognised`);
  const rises = told.every((each, at) => each > (told[at - 1] ?? 0));
  assert.ok(rises, told.join());
}

/** The engine processes that are children of this process, or of another. */
export function enginePids(parent = process.pid): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
        return command.includes("engine-process.ts") && after.split(" ")[1] === String(parent);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Input that stays open: gives these, then waits until it is left or told to go on. */
export function openInput(...items: RecognitionInput[]) {
  const end = Promise.withResolvers<void>();
  let given = 0;
  let isLeft = false;
  async function* input(): AsyncGenerator<RecognitionInput> {
    try {
      for (const item of items) {
        given += 1;
        yield item;
      }
      await end.promise;
    } finally {
      isLeft = true;
    }
  }
  return {
    input: input(),
    end: () => end.resolve(),
    given: () => given,
    isLeft: () => isLeft,
  };
}
