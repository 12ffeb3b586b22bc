import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { pino } from "pino";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { createReadiness, type ReadinessCheck } from "./health.ts";

const unreachable = new Error("connect ECONNREFUSED db.internal:5432 password=hunter2");
const explain = (error: unknown) =>
  error === unreachable
    ? new ServiceError("unavailable", "the database is unavailable")
    : undefined;

function readinessOf(checks: readonly ReadinessCheck[], log = createLog("silent")) {
  const clock = { now: 0 };
  const readiness = createReadiness(checks, { explain, log, now: () => clock.now });
  return { clock, readiness };
}

test("createReadiness() reports ready when every part is ready, and otherwise gives reasons without secrets", async () => {
  const problems: Record<string, Error | undefined> = {};
  const check = (name: string) => ({
    name,
    uses: [],
    check: () => {
      const problem = problems[name];
      return problem ? Promise.reject(problem) : Promise.resolve({ name });
    },
  });
  const { clock, readiness } = readinessOf(["a", "b", "c"].map(check));
  assert.deepEqual(await readiness.report(), {
    isReady: true,
    parts: {
      a: { ready: true, name: "a" },
      b: { ready: true, name: "b" },
      c: { ready: true, name: "c" },
    },
  });
  problems["a"] = unreachable;
  problems["b"] = new Error("secret of the part");
  problems["c"] = new ServiceError("unavailable", "no process is ready");
  clock.now = 1_000;
  assert.deepEqual(await readiness.report(), {
    isReady: false,
    parts: {
      a: { ready: false, reason: "the database is unavailable" },
      b: { ready: false, reason: "the check failed: see the log of the service" },
      c: { ready: false, reason: "no process is ready" },
    },
  });
});

test("createReadiness() reuses a part's report for a second", async () => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = async () => {
    asked += 1;
    await promise;
  };
  const { clock, readiness } = readinessOf([{ name: "slow", uses: ["speech"], check }]);
  const first = readiness.report();
  const second = readiness.report(["speech"]);
  resolve();
  await Promise.all([first, second]);
  clock.now = 999;
  await readiness.report();
  assert.equal(asked, 1);
  clock.now = 1_000;
  await readiness.report();
  assert.equal(asked, 2);
});

test("createReadiness() checks only the parts that a use needs", async () => {
  const never = () => Promise.withResolvers<void>().promise;
  const { readiness } = readinessOf([
    { name: "database", uses: ["speech", "jobs"], check: () => Promise.resolve() },
    { name: "media", uses: ["jobs"], check: never },
  ]);
  assert.deepEqual(readiness.uses, ["speech", "jobs"]);
  const speech = { isReady: true, parts: { database: { ready: true } } };
  assert.deepEqual(await readiness.report(["speech"]), speech);
});

test("createReadiness() does not check a part again while its check hangs, and responds immediately", async () => {
  let asked = 0;
  const held = Promise.withResolvers<void>();
  const check = async () => {
    asked += 1;
    await held.promise;
  };
  const { clock, readiness } = readinessOf([{ name: "media", uses: ["jobs"], check }]);
  const late = { media: { ready: false, reason: "no answer within 2 s" } };
  assert.deepEqual((await readiness.report()).parts, late);
  for (clock.now = 5_000; clock.now < 30_000; clock.now += 1_000) {
    const began = performance.now();
    assert.deepEqual((await readiness.report()).parts, late);
    assert.ok(performance.now() - began < 1_000, "the second report does not wait");
  }
  assert.equal(asked, 1);
  held.resolve();
  await turn();
  clock.now += 1_000;
  assert.deepEqual((await readiness.report()).parts, { media: { ready: true } });
  assert.equal(asked, 2);
});

test("createReadiness() logs each change of a part once", async () => {
  const events: string[] = [];
  const log = pino(
    { base: null, messageKey: "event" },
    { write: (line: string) => events.push(JSON.parse(line).event) },
  );
  let isDown = false;
  const check = () => (isDown ? Promise.reject(new Error("a bug")) : Promise.resolve());
  const { clock, readiness } = readinessOf([{ name: "a", uses: [], check }], log);
  for (const next of [false, true, true, false, false]) {
    isDown = next;
    await readiness.report();
    clock.now += 1_000;
  }
  assert.deepEqual(events, ["readiness.check_failed", "readiness.lost", "readiness.back"]);
});
