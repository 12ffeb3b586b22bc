// Hints with a real engine, whose process is killed between two utterances.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { enginePids } from "../../../test/fixtures/engine-pool-fixture.ts";
import { flite, joined, noise } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import type { Recognition } from "../protocol/recognizer.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";

const options = {
  languageCode: "en-US",
  sampleRateHertz: 16_000,
  hints: [{ phrase: "Saoirse", boost: 10, soundsLike: ["sursha"] }],
} as const;
let others: ReadonlySet<number>;
let pool: EnginePool;
before(async () => {
  others = new Set(enginePids());
  const log = createLog("silent");
  pool = await openEnginePool({
    engine: "pocketsphinx",
    liveEffort: "quick",
    processes: 1,
    log,
  });
});
after(() => pool[Symbol.asyncDispose]());

test("recognition with hints has the same results if its process is killed after an utterance", async () => {
  const pause = noise(800, 4);
  const said = ["Sursha came", "Sursha came"].map((text) => flite(text, { voice: "rms" }));
  const [first, second] = said.map((each) => joined(pause, each, pause));
  assert.ok(first && second);
  for (const mode of ["live", "job"] as const) {
    const run = async (onFirst: () => void): Promise<Recognition[]> => {
      const isFound = Promise.withResolvers<void>();
      async function* input() {
        yield first ?? pause;
        await isFound.promise;
        yield second ?? pause;
      }
      const found: Recognition[] = [];
      for await (const final of pool.recognize(input(), { ...options, mode })) {
        found.push(final);
        if (found.length === 1) onFirst();
        isFound.resolve();
      }
      return found;
    };
    const whole = await run(() => {});
    const texts = whole.map(({ alternatives: [best] }) => best?.text);
    assert.deepEqual(texts, ["Saoirse came", "Saoirse came"], mode);
    let killed = 0;
    const kill = (): void => {
      for (const pid of enginePids().filter((each) => !others.has(each))) {
        killed += Number(process.kill(pid, "SIGKILL"));
      }
    };
    assert.deepEqual(await run(kill), whole, mode);
    assert.ok(killed > 0);
  }
});
