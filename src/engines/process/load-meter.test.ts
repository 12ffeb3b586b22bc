import assert from "node:assert/strict";
import { test } from "node:test";
import { LoadMeter, type Metered } from "./load-meter.ts";
import type { LoadReport } from "../protocol/load-report.ts";

const noWaits = { count: 0, totalMs: 0 };

/** A meter whose clocks and sessions go on when they are told to. */
function openMeter() {
  const clock = { nowMs: 1000, cpuMs: 500 };
  const meter = new LoadMeter({ nowMs: () => clock.nowMs, cpuMs: () => clock.cpuMs });
  const session = (id: number, mode: Metered["mode"]) => {
    const totals = { busyMs: 0, heardSeconds: 100, spokenSeconds: 50, queuedSeconds: 0 };
    const metered: Metered = {
      id,
      mode,
      busyMs: () => totals.busyMs,
      heardSeconds: () => totals.heardSeconds,
      queuedSeconds: () => totals.queuedSeconds,
      spokenSeconds: () => totals.spokenSeconds,
    };
    meter.add(metered);
    return { metered, totals };
  };
  return { clock, meter, session };
}

const demands = ({ live }: LoadReport) =>
  live.map(([id, demand]) => [id, Number(demand.toFixed(3))]);

test("LoadMeter tells what each live session needs to be heard as fast as it speaks", () => {
  const { clock, meter, session } = openMeter();
  const paced = session(1, "live");
  const unpaced = session(2, "live");
  const silent = session(3, "live");
  const job = session(4, "job");
  clock.nowMs += 2000;
  clock.cpuMs += 1200;
  paced.totals.busyMs += 400;
  paced.totals.heardSeconds += 2;
  unpaced.totals.busyMs += 400;
  unpaced.totals.heardSeconds += 20;
  silent.totals.busyMs += 2;
  silent.totals.heardSeconds += 2;
  job.totals.busyMs += 398;
  assert.deepEqual(demands(meter.report(noWaits)), [
    [1, 0.2],
    [2, 0.02],
    [3, 0.001],
  ]);
  // Nothing is counted twice.
  clock.nowMs += 1000;
  clock.cpuMs += 1;
  assert.deepEqual(demands(meter.report(noWaits)), [
    [1, 0],
    [2, 0],
    [3, 0],
  ]);
});

test("LoadMeter counts CPU, not the time for which others had the machine, and work beside the slices", () => {
  for (const [busyMs, cpuMs, demand] of [
    [900, 300, 0.3],
    [100, 300, 0.3],
  ] as const) {
    const { clock, meter, session } = openMeter();
    const { totals } = session(1, "live");
    clock.nowMs += 1000;
    clock.cpuMs += cpuMs;
    totals.busyMs += busyMs;
    totals.heardSeconds += 1;
    totals.spokenSeconds += 1;
    const report = meter.report(noWaits);
    assert.deepEqual(demands(report), [[1, demand]]);
    assert.deepEqual(report.work.live, { cpuSeconds: 0.3, audioSeconds: 1 });
  }
});

test("LoadMeter tells the cost of speech, its final with it, and not that of silence", () => {
  const { clock, meter, session } = openMeter();
  const { totals } = session(1, "live");
  const short = session(2, "short");
  const heard = (busyMs: number, spokenSeconds: number) => {
    clock.nowMs += 1000;
    clock.cpuMs += busyMs;
    totals.busyMs += busyMs;
    totals.heardSeconds += 1;
    totals.spokenSeconds += spokenSeconds;
    return meter.report(noWaits).work.live;
  };
  assert.deepEqual(heard(5, 0), { cpuSeconds: 0, audioSeconds: 0 });
  assert.deepEqual(heard(100, 1), { cpuSeconds: 0.1, audioSeconds: 1 });
  assert.deepEqual(heard(200, 0), { cpuSeconds: 0.2, audioSeconds: 0 });
  assert.deepEqual(heard(5, 0), { cpuSeconds: 0.005, audioSeconds: 0 });
  assert.deepEqual(heard(5, 0), { cpuSeconds: 0, audioSeconds: 0 });
  // Of a session that ended in between too.
  clock.nowMs += 1000;
  clock.cpuMs += 250;
  short.totals.busyMs += 250;
  short.totals.heardSeconds += 5;
  meter.remove(short.metered);
  assert.deepEqual(meter.report(noWaits).work.short, { cpuSeconds: 0.25, audioSeconds: 5 });
});

test("LoadMeter tells how late live audio is heard: what waits for its turn, and behind other audio", () => {
  const { meter } = openMeter();
  assert.equal(meter.report({ count: 4, totalMs: 100 }).liveLateMs, 25);
  assert.equal(meter.report(noWaits).liveLateMs, 0);

  const full = openMeter();
  const [one, two] = [full.session(1, "live"), full.session(2, "live")];
  const job = full.session(3, "job");
  const next = (heardSeconds: number) => {
    full.clock.nowMs += 1000;
    for (const { totals } of [one, two, job]) totals.heardSeconds += heardSeconds;
    return full.meter.report({ count: 1, totalMs: 5 }).liveLateMs;
  };
  one.totals.queuedSeconds = 2;
  two.totals.queuedSeconds = 1;
  job.totals.queuedSeconds = 20;
  assert.equal(next(0.8), 1500);
  // So much comes at once, and is heard fast.
  assert.equal(next(4), 5);
});
