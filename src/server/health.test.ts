import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { pino } from "pino";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { createReadiness, type ReadinessCheck } from "./health.ts";

const away = new Error("connect ECONNREFUSED db.internal:5432 password=hunter2");
const explain = (error: unknown) =>
  error === away ? new ServiceError("unavailable", "the database is away") : undefined;

function readinessOf(checks: readonly ReadinessCheck[], log = createLog("silent")) {
  const clock = { now: 0 };
  const readiness = createReadiness(checks, { explain, log, now: () => clock.now });
  return { clock, readiness };
}

test("createReadiness() asks every part, is ready when each is, and says why one is not without its secrets", async () => {
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
  problems["a"] = away;
  problems["b"] = new Error("secret of the part");
  problems["c"] = new ServiceError("unavailable", "no process is ready");
  clock.now = 1_000;
  assert.deepEqual(await readiness.report(), {
    isReady: false,
    parts: {
      a: { ready: false, reason: "the database is away" },
      b: { ready: false, reason: "it failed: the log of the service says how" },
      c: { ready: false, reason: "no process is ready" },
    },
  });
});

test("createReadiness() gives what a part says to all who ask within a second of it", async () => {
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

test("createReadiness() asks for one use only what it needs, and waits for nothing else", async () => {
  const never = () => Promise.withResolvers<void>().promise;
  const { readiness } = readinessOf([
    { name: "database", uses: ["speech", "jobs"], check: () => Promise.resolve() },
    { name: "media", uses: ["jobs"], check: never },
  ]);
  assert.deepEqual(readiness.uses, ["speech", "jobs"]);
  const speech = { isReady: true, parts: { database: { ready: true } } };
  assert.deepEqual(await readiness.report(["speech"]), speech);
});

test("createReadiness() never asks a part that hangs a second time, and answers at once from then on", async () => {
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
    assert.ok(performance.now() - began < 1_000, "nobody waits again");
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
  let isAway = false;
  const check = () => (isAway ? Promise.reject(new Error("a bug")) : Promise.resolve());
  const { clock, readiness } = readinessOf([{ name: "a", uses: [], check }], log);
  for (const next of [false, true, true, false, false]) {
    isAway = next;
    await readiness.report();
    clock.now += 1_000;
  }
  assert.deepEqual(events, ["readiness.check_failed", "readiness.lost", "readiness.back"]);
});
