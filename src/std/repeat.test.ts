import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { openRepeat, repeat } from "./repeat.ts";

describe("repeat", () => {
  const lines: { level: number; event: string; error: string }[] = [];
  const log = pino(
    { messageKey: "event" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const logged = () => lines.splice(0).map(({ level, error }) => `${level} ${error}`);

  test("repeat() runs immediately, and again after each wait, until the signal aborts", async () => {
    const stop = new AbortController();
    const at: number[] = [];
    await repeat({ everyMs: 20, log, event: "test.failed", signal: stop.signal }, async () => {
      at.push(performance.now());
      if (at.length === 3) stop.abort();
    });
    assert.equal(at.length, 3);
    for (const [index, time] of at.slice(1).entries()) assert.ok(time - (at[index] ?? 0) >= 18);
    assert.deepEqual(logged(), []);
  });

  test("repeat() waits before the first run if requested", async () => {
    const stop = new AbortController();
    const options = { everyMs: 1, firstAfterMs: 20, log, event: "test.failed" };
    const startedAt = performance.now();
    await repeat({ ...options, signal: stop.signal }, async () => stop.abort());
    assert.ok(performance.now() - startedAt >= 18);
  });

  test("an abort ends the wait, and repeat() resolves when the run in progress has ended", async () => {
    const stop = new AbortController();
    let hasEnded = false;
    const options = { everyMs: 60_000, log, event: "test.failed", signal: stop.signal };
    const loop = repeat(options, async () => {
      await sleep(20);
      hasEnded = true;
    });
    stop.abort();
    await loop;
    assert.ok(hasEnded);
    const waiting = new AbortController();
    const second = repeat({ ...options, signal: waiting.signal }, async () => {});
    await sleep(5);
    waiting.abort();
    await second;
  });

  test("a failure is logged at its level, and repeat() continues", async () => {
    const stop = new AbortController();
    let runs = 0;
    const isWarning = (error: unknown) => error instanceof RangeError;
    const options = { everyMs: 1, log, event: "test.failed", isWarning, signal: stop.signal };
    await repeat(options, async () => {
      runs += 1;
      if (runs === 1) throw new RangeError("warning");
      if (runs === 2) throw new Error("bug");
      stop.abort();
      throw new Error("after the abort");
    });
    assert.deepEqual(logged(), ["40 warning", "50 bug"]);
  });

  test("only the first of several consecutive failures is logged, if requested", async () => {
    const stop = new AbortController();
    let runs = 0;
    const options = { everyMs: 1, log, event: "test.failed", logsFirstOnly: true };
    await repeat({ ...options, signal: stop.signal }, async () => {
      runs += 1;
      if (runs === 6) stop.abort();
      if (runs !== 3) throw new Error(`run ${runs}`);
    });
    assert.deepEqual(logged(), ["40 run 1", "40 run 4"]);
  });

  test("disposing of an open repeat aborts its run and waits for it for at most stopMsMax", async () => {
    let reason: unknown;
    const options = { everyMs: 1, log, event: "test.failed" };
    const prompt = openRepeat(options, async (signal) => {
      await sleep(60_000, undefined, { signal }).catch(() => (reason = signal.reason));
    });
    await prompt[Symbol.asyncDispose]();
    assert.match(String(reason), /stopped: test\.failed/);
    const release = Promise.withResolvers<void>();
    const stuck = openRepeat({ ...options, stopMsMax: 10 }, () => release.promise);
    await stuck[Symbol.asyncDispose]();
    release.resolve();
  });
});
