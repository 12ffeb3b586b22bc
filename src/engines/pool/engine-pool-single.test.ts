// Tests what clients see of a pool with a single process that stops, dies or hangs.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  enginePids,
  finalsWithoutPool,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { createLog } from "../../std/log.ts";
import { openEnginePool } from "./engine-pool.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "../protocol/recognizer.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";

const log = createLog("silent");
const stuckMsMax = 500;

/** Opens a pool with a single process. */
async function openSingle() {
  const before = new Set(enginePids());
  const single = await openEnginePool({ engine: "scripted", processes: 1, log, stuckMsMax });
  const find = () => enginePids().find((pid) => !before.has(pid));
  return {
    pool: single,
    pid: () => find() ?? assert.fail("there is no process"),
    died: (pid: number) => until(() => find() !== pid, "it has ended"),
    ready: () => until(() => single.state().ready === 1 && find() !== undefined, "it is back"),
    [Symbol.asyncDispose]: () => single[Symbol.asyncDispose](),
  };
}

test("an utterance that is flushed while its process is stopped gets its final result", async () => {
  await using single = await openSingle();
  // Every 500 ms, the process confirms the audio that it has received, so it also confirms the last
  // of these chunks.
  const said = Array.from({ length: 6 }, () => speech(90));
  const stopped = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  async function* input(): AsyncGenerator<RecognitionInput> {
    yield* said;
    await stopped.promise;
    yield endUtterance;
    await end.promise;
  }
  const finals: Recognition[] = [];
  const run = async () => {
    const options = { ...scriptedOptions, interim: true };
    for await (const recognition of single.pool.recognize(input(), options)) {
      if (recognition.isFinal) finals.push(recognition);
      if (recognition.audioEndMs !== 540 || recognition.isFinal) continue;
      process.kill(single.pid(), "SIGSTOP");
      stopped.resolve();
    }
  };
  const running = run();
  await until(() => finals.length > 0, "there is a final");
  end.resolve();
  await running;
  assert.deepEqual(finals, finalsWithoutPool([...said, endUtterance]));
});

test("a stream is not blamed for a crash that another stream causes immediately after its turn", async () => {
  await using single = await openSingle();
  const { pool: own, pid, died, ready } = single;
  const gates: (() => void)[] = [];
  const gate = () => new Promise<void>((resolve) => gates.push(resolve));
  const ending = new AbortController();
  let given = 0;
  async function* innocentInput(): AsyncGenerator<RecognitionInput> {
    while (!ending.signal.aborted) {
      given += 1;
      yield speech(10);
      await gate();
    }
  }
  async function* poisonInput(): AsyncGenerator<RecognitionInput> {
    yield speech(100);
    await gate();
    yield speech(200).fill(scriptedOrders.die);
    await gate();
  }
  const innocent = recognize(own, innocentInput());
  let failure: unknown;
  innocent.catch((error: unknown) => (failure = error));
  await until(() => own.state().sessions === 1, "it has its place");
  const first = pid();
  process.kill(first, "SIGKILL");
  await died(first);
  for (let round = 0; round < 3; round++) {
    await ready();
    await until(() => own.state().sessions === 1 || failure !== undefined, "it is replayed there");
    assert.equal(failure, undefined);
    const leaving = new AbortController();
    // Each round uses a new stream, because a stream is not a suspect at its first crash.
    const poison = own.recognize(poisonInput(), {
      ...scriptedOptions,
      interim: true,
      signal: leaving.signal,
    });
    // When this stream's audio has been processed, all earlier audio has been processed, too.
    await poison.next();
    await until(() => gates.length === 2, "both wait");
    const victim = pid();
    for (const go of gates.splice(0)) go();
    await died(victim);
    leaving.abort(new Error("enough"));
    await assert.rejects(poison.next(), /enough/);
    gates.splice(1);
  }
  ending.abort();
  for (const go of gates) go();
  assert.deepEqual(
    await innocent,
    finalsWithoutPool(Array.from({ length: given }, () => speech(10))),
  );
});

test("audio that crashes processes from another thread ends only its own stream", async () => {
  await using own = await openEnginePool({ engine: "scripted", processes: 1, log });
  const ending = new AbortController();
  const innocent = openInput(speech(100));
  const running = recognize(own, innocent.input);
  await until(() => own.state().sessions === 1, "it has its place");
  const poison = [speech(100), speech(200).fill(scriptedOrders.dieOnThread), speech(100)];
  const limit = setTimeout(() => ending.abort(new Error("it does not end")), 15_000);
  await assert.rejects(recognize(own, poison, { signal: ending.signal }), {
    reason: "ENGINE_FAILED",
  });
  clearTimeout(limit);
  innocent.end();
  assert.deepEqual(await running, finalsWithoutPool([speech(100)]));
});

test("a stream that hangs its process on another thread ends, and no other stream does", async () => {
  await using own = await openEnginePool({ engine: "scripted", processes: 1, log, stuckMsMax });
  const ending = new AbortController();
  const innocent = openInput(speech(100));
  const running = recognize(own, innocent.input);
  await until(() => own.state().sessions === 1, "it has its place");
  const poison = [speech(100), speech(200).fill(scriptedOrders.hangOnThread), speech(100)];
  const limit = setTimeout(() => ending.abort(new Error("it hangs forever")), 60_000);
  await assert.rejects(recognize(own, poison, { signal: ending.signal }), {
    reason: "ENGINE_FAILED",
  });
  clearTimeout(limit);
  innocent.end();
  assert.deepEqual(await running, finalsWithoutPool([speech(100)]));
});
