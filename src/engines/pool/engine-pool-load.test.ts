// Tests what the pool admits and refuses, as measured while it runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  enginePids,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { silence } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";

const log = createLog("silent");
const chunkMs = 100;
/** Audio that uses a fifth of a core at the speed of speech. */
const toil = speech(chunkMs).fill(scriptedOrders.toil);

/** Opens a stream that sends at the speed of speech until end() is called. */
function openPaced(pool: EnginePool, chunk: Int16Array) {
  const ending = new AbortController();
  const lags: number[] = [];
  const start = performance.now();
  async function* input(): AsyncGenerator<Int16Array> {
    for (let sent = 0; !ending.signal.aborted; sent++) {
      const dueMs = start + sent * chunkMs - performance.now();
      if (dueMs > 1) await delay(dueMs);
      yield chunk;
    }
  }
  const run = async () => {
    const options = { ...scriptedOptions, interim: true };
    for await (const { audioEndMs } of pool.recognize(input(), options)) {
      lags.push(performance.now() - start - audioEndMs);
    }
  };
  const running = run();
  let failure: unknown;
  running.catch((error: unknown) => (failure = error));
  return {
    lags,
    end: async () => {
      ending.abort();
      await running;
    },
    hasResults: () => lags.length > 0,
    failure: () => failure,
  };
}

function isFull(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    error.code === "resource_exhausted" &&
    error.reason === "STREAMS_FULL" &&
    error.retryAfterMs === 5000
  );
}

test("live streams are admitted until the machine can serve no more in time, and again after some of them end", async (context) => {
  const others = new Set(enginePids());
  await using pool = await openEnginePool({ engine: "scripted", processes: 1, log });
  const pid = enginePids().find((each) => !others.has(each)) ?? 0;
  // Silent streams cost too little to matter.
  const silent = Array.from({ length: 50 }, () => openPaced(pool, silence(chunkMs)));
  const streams: ReturnType<typeof openPaced>[] = [];
  let refused: unknown;
  while (refused === undefined) {
    const stream = openPaced(pool, toil);
    await until(
      () => stream.hasResults() || stream.failure() !== undefined,
      "it has results or is refused",
    );
    refused = stream.failure();
    if (refused === undefined) streams.push(stream);
    await delay(1200);
    assert.ok(streams.length <= 8, "more than a process can serve");
  }
  assert.ok(isFull(refused));
  const { load, models, sessions } = pool.state();
  const streamsMax = models[0]?.streamsMax ?? NaN;
  assert.ok(load <= 1.2, `load ${load}`);
  assert.equal(sessions, 50 + streams.length);

  // Admitted streams get their results in time, and no stream is dropped.
  for (const { lags } of streams) lags.length = 0;
  await delay(3000);
  assert.ok(isFull(await failureOf(pool)));
  for (const { failure } of [...streams, ...silent]) assert.equal(failure(), undefined);
  if (coreWaitMs(pid) > 2000) {
    context.diagnostic(
      "other processes keep the machine busy: fewer are admitted, and all are late",
    );
  } else {
    assert.ok(streams.length >= 3, `${streams.length} streams`);
    assert.ok(streamsMax >= 3 && streamsMax <= 8, `${streamsMax} streams`);
    assert.ok(load > 0.5, `load ${load}`);
    for (const { lags } of streams) {
      const late = lags.toSorted((a, b) => a - b)[Math.floor(lags.length * 0.95)] ?? 0;
      assert.ok(late < 1000, `late by ${late} ms`);
    }
  }

  await Promise.all(streams.map((stream) => stream.end()));
  const giveUpAt = performance.now() + 30_000;
  while (isFull(await failureOf(pool))) {
    assert.ok(performance.now() < giveUpAt, "there is room again");
    await delay(300);
  }
  await Promise.all(silent.map((stream) => stream.end()));
  assert.equal(pool.state().load, 0);
});

/** How long a process was runnable but had no core. */
function coreWaitMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
}

/** Opens one more stream and returns its failure. */
async function failureOf(pool: EnginePool): Promise<unknown> {
  const stream = openPaced(pool, toil);
  await until(
    () => stream.hasResults() || stream.failure() !== undefined,
    "it has results or is refused",
  );
  await stream.end().catch(() => {});
  return stream.failure();
}

test("a stream uses no capacity before its first audio", async () => {
  await using pool = await openEnginePool({ engine: "scripted", processes: 1, log });
  const { promise: never, resolve } = Promise.withResolvers<void>();
  const nothing = async function* (): AsyncGenerator<Int16Array> {
    await never;
    yield* [];
  };
  const idle = Array.from({ length: 200 }, () =>
    Array.fromAsync(pool.recognize(nothing(), scriptedOptions)),
  );
  await delay(50);
  assert.equal(pool.state().sessions, 0);
  assert.equal(pool.state().load, 0);
  resolve();
  assert.deepEqual((await Promise.all(idle)).flat(), []);
});

test("short recordings are refused if they would wait too long, but jobs are not", async () => {
  await using pool = await openEnginePool({ engine: "scripted", processes: 1, log });
  // Each recording takes 4 s of CPU time.
  const recording = speech(20_000).fill(scriptedOrders.toil);
  const leaving = new AbortController();
  const run = async (mode: "short" | "job", samples = recording) => {
    const options = { ...scriptedOptions, mode, signal: leaving.signal };
    return await Array.fromAsync(pool.recognize([samples], options)).catch(
      (error: unknown) => error,
    );
  };
  // The cost of a second of audio is known after some audio has been recognized.
  assert.ok(Array.isArray(await run("short", recording.subarray(0, recording.length / 4))));
  const outcomes: unknown[] = [];
  for (let count = 0; count < 20; count++) {
    void run("short").then((outcome) => outcomes.push(outcome));
    void run("job").then((outcome) => outcomes.push(outcome));
    await delay(20);
  }
  const refused = outcomes.filter((error) => error instanceof ServiceError);
  assert.ok(refused.length >= 5 && refused.length <= 17, `${refused.length} are refused`);
  for (const { code, reason, retryAfterMs = 0 } of refused) {
    assert.equal(`${code} ${reason}`, "resource_exhausted QUEUE_FULL");
    assert.ok(retryAfterMs >= 2000 && retryAfterMs < 60_000);
  }
  // All jobs and the admitted recordings are in progress.
  assert.equal(pool.state().sessions + outcomes.length, 40);
  leaving.abort(new Error("enough"));
  await until(() => outcomes.length === 40, "all have ended");
  assert.equal(pool.state().sessions, 0);
});

test("a recording gets its share of time next to a live stream that arrives faster than speech", async () => {
  await using pool = await openEnginePool({ engine: "scripted", processes: 1, log });
  const recording = speech(3000).fill(scriptedOrders.toil);
  const tookMs = async () => {
    const start = performance.now();
    await recognize(pool, [recording], { mode: "short" });
    return performance.now() - start;
  };
  // Other tests run concurrently, so there are up to five attempts, one of which must not be slow.
  for (let attempts = 1; ; attempts += 1) {
    const aloneMs = await tookMs();
    const ending = new AbortController();
    let givenMs = 0;
    function* flood(): Generator<Int16Array> {
      for (; !ending.signal.aborted; givenMs += chunkMs) yield toil;
    }
    const start = performance.now();
    const flooding = recognize(pool, flood());
    // At most 2 s of the audio may wait in the process.
    const farAhead = () => givenMs > performance.now() - start + 5000;
    await until(farAhead, "it is far ahead", 60_000);
    const sharedMs = await tookMs();
    ending.abort();
    await flooding;
    if (sharedMs < 4 * aloneMs) break;
    assert.ok(attempts < 5, `${sharedMs} ms, alone ${aloneMs} ms`);
  }
});

test("jobs do not delay a live stream", async () => {
  await using pool = await openEnginePool({ engine: "scripted", processes: 2, log });
  const leaving = new AbortController();
  const job = speech(60_000).fill(scriptedOrders.toil);
  const jobs = Array.from({ length: 2 }, () =>
    Array.fromAsync(
      pool.recognize([job], { ...scriptedOptions, mode: "job", signal: leaving.signal }),
    ).catch(() => {}),
  );
  await delay(300);
  // Other tests run concurrently and may also delay a stream, so there are several attempts, in one
  // of which the stream must not be late.
  const seen: string[] = [];
  for (let attempts = 0; attempts < 5; attempts += 1) {
    const live = openPaced(pool, speech(chunkMs));
    await delay(3000);
    await live.end();
    const worst = Math.max(...live.lags);
    seen.push(`${live.lags.length} results, late by ${worst}`);
    // A slice of the job lasts 20 ms.
    if (live.lags.length >= 5 && worst < 500) break;
    assert.ok(attempts < 4, seen.join("; "));
  }
  leaving.abort(new Error("enough"));
  await Promise.all(jobs);
});
