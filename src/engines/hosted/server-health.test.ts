import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerFailure } from "./server-failure.ts";
import { ServerHealth } from "./server-health.ts";

/** A health whose timers the test fires, and whose server answers as the test says. */
function openHealth() {
  const state = { nowMs: 0, isPresent: true };
  const timers: { act: () => void; ms: number }[] = [];
  const health = new ServerHealth({
    probe: () =>
      state.isPresent
        ? Promise.resolve()
        : Promise.reject(new ServerFailure("unreachable", "connection refused")),
    nowMs: () => state.nowMs,
    later(act, ms) {
      timers.splice(0, timers.length, { act, ms });
      return () => timers.splice(0);
    },
  });
  /** Lets the time of the next check come, and returns how long it took. */
  const next = async (): Promise<number> => {
    const [timer] = timers.splice(0);
    assert.ok(timer, "a check is due");
    state.nowMs += timer.ms;
    await health.check();
    return timer.ms;
  };
  return { health, state, timers, next };
}

test("an absent server is checked more and more seldom, up to every 10 s", async () => {
  const { health, state, next } = openHealth();
  state.isPresent = false;
  await health.check();
  assert.deepEqual(health.absence(), {
    kind: "UNREACHABLE",
    reason: "connection refused",
    absentMs: 0,
  });
  const waits: number[] = [];
  for (let count = 0; count < 8; count++) waits.push(await next());
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
  assert.equal(health.absence()?.absentMs, 45_500);
  state.isPresent = true;
  await next();
  assert.equal(health.absence(), undefined);
  assert.equal(await next(), 10_000);
});

test("a server that answers checks but does not recognize stays in doubt until it does", async () => {
  const { health, state, next } = openHealth();
  const failure = new ServerFailure("denied", "it refused the key (401)");
  const waits: number[] = [];
  for (let count = 0; count < 4; count++) {
    health.failed(failure);
    assert.equal(health.absence()?.kind, "DENIED");
    waits.push(await next());
    assert.equal(health.absence(), undefined);
  }
  assert.deepEqual(waits, [500, 1000, 2000, 4000]);
  state.nowMs = 60_000;
  health.failed(failure);
  assert.equal(health.absence()?.absentMs, 60_000, "counted from the first failure");
  health.recognized();
  health.failed(new ServerFailure("busy", "it has no room"));
  assert.deepEqual(health.absence(), { kind: "BUSY", reason: "it has no room", absentMs: 0 });
});

test("a closed health checks nothing any more", async () => {
  const { health, state, timers } = openHealth();
  health[Symbol.dispose]();
  state.isPresent = false;
  await health.check();
  assert.equal(health.absence(), undefined);
  assert.deepEqual(timers, []);
});
