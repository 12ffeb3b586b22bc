import assert from "node:assert/strict";
import { test } from "node:test";
import { LoadMeter, type MeteredSession } from "./load-meter.ts";
import type { LoadReport } from "../protocol/load-report.ts";

const noWaits = { count: 0, totalMs: 0 };

/** Opens a meter with clocks and sessions that are advanced manually. */
function openMeter() {
  const clock = { nowMs: 1000, cpuMs: 500 };
  const meter = new LoadMeter({ nowMs: () => clock.nowMs, cpuMs: () => clock.cpuMs });
  const session = (id: number, mode: MeteredSession["mode"]) => {
    const metered = {
      id,
      mode,
      workMs: 0,
      processedSeconds: 100,
      spokenSeconds: 50,
      fullWork: { workMs: 0, audioSeconds: 0 },
      queuedSeconds: 0,
      takeLeastQueuedSeconds: () => metered.queuedSeconds,
    };
    meter.add(metered);
    return metered;
  };
  return { clock, meter, session };
}

const demands = ({ live }: LoadReport) =>
  live.map(([id, demand]) => [id, Number(demand.toFixed(3))]);

test("LoadMeter reports the share of a core that each live session needs to keep up with real time", () => {
  const { clock, meter, session } = openMeter();
  const paced = session(1, "live");
  const unpaced = session(2, "live");
  const silent = session(3, "live");
  const job = session(4, "job");
  clock.nowMs += 2000;
  clock.cpuMs += 1200;
  paced.workMs += 400;
  paced.processedSeconds += 2;
  unpaced.workMs += 400;
  unpaced.processedSeconds += 20;
  silent.workMs += 2;
  silent.processedSeconds += 2;
  job.workMs += 398;
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

test("LoadMeter counts CPU time, even outside the slices, but not the time in which other processes used the core", () => {
  for (const [workMs, cpuMs, demand] of [
    [900, 300, 0.3],
    [100, 300, 0.3],
  ] as const) {
    const { clock, meter, session } = openMeter();
    const live = session(1, "live");
    clock.nowMs += 1000;
    clock.cpuMs += cpuMs;
    live.workMs += workMs;
    live.processedSeconds += 1;
    live.spokenSeconds += 1;
    const report = meter.report(noWaits);
    assert.deepEqual(demands(report), [[1, demand]]);
    assert.deepEqual(report.work.live, { cpuSeconds: 0.3, audioSeconds: 1 });
  }
});

test("LoadMeter reports the cost of speech, including its final result, but not that of silence", () => {
  const { clock, meter, session } = openMeter();
  const live = session(1, "live");
  const short = session(2, "short");
  const report = (workMs: number, spokenSeconds: number) => {
    clock.nowMs += 1000;
    clock.cpuMs += workMs;
    live.workMs += workMs;
    live.processedSeconds += 1;
    live.spokenSeconds += spokenSeconds;
    return meter.report(noWaits).work.live;
  };
  assert.deepEqual(report(5, 0), { cpuSeconds: 0, audioSeconds: 0 });
  assert.deepEqual(report(100, 1), { cpuSeconds: 0.1, audioSeconds: 1 });
  assert.deepEqual(report(200, 0), { cpuSeconds: 0.2, audioSeconds: 0 });
  assert.deepEqual(report(5, 0), { cpuSeconds: 0.005, audioSeconds: 0 });
  assert.deepEqual(report(5, 0), { cpuSeconds: 0, audioSeconds: 0 });
  // The cost of a session that ended in between also counts.
  clock.nowMs += 1000;
  clock.cpuMs += 250;
  short.workMs += 250;
  short.processedSeconds += 5;
  meter.remove(short);
  assert.deepEqual(meter.report(noWaits).work.short, { cpuSeconds: 0.25, audioSeconds: 5 });
});

test("LoadMeter reports the delay of live audio, from waits for a turn and from queued audio", () => {
  const { meter } = openMeter();
  assert.equal(meter.report({ count: 4, totalMs: 100 }).liveLateMs, 25);
  assert.equal(meter.report(noWaits).liveLateMs, 0);

  const full = openMeter();
  const [one, two] = [full.session(1, "live"), full.session(2, "live")];
  const job = full.session(3, "job");
  const next = (seconds: number) => {
    full.clock.nowMs += 1000;
    for (const each of [one, two, job]) each.processedSeconds += seconds;
    return full.meter.report({ count: 1, totalMs: 5 }).liveLateMs;
  };
  one.queuedSeconds = 2;
  two.queuedSeconds = 1;
  job.queuedSeconds = 20;
  assert.equal(next(0.8), 1500);
  // Audio that arrives faster than real time is not late.
  assert.equal(next(4), 5);
});

test("LoadMeter reports the additional work of full effort apart from the demand of a session", () => {
  const { clock, meter, session } = openMeter();
  const full = session(1, "live");
  const quick = session(2, "live");
  clock.nowMs += 1000;
  clock.cpuMs += 600;
  full.workMs += 500;
  full.fullWork = { workMs: 300, audioSeconds: 2 };
  full.processedSeconds += 1;
  full.spokenSeconds += 1;
  quick.workMs += 100;
  quick.processedSeconds += 1;
  quick.spokenSeconds += 1;
  const report = meter.report(noWaits);
  assert.deepEqual(demands(report), [
    [1, 0.2],
    [2, 0.1],
  ]);
  assert.deepEqual(report.fullWork, { cpuSeconds: 0.3, audioSeconds: 2 });
  assert.equal(report.work.live.cpuSeconds.toFixed(3), "0.300");
  clock.nowMs += 1000;
  assert.deepEqual(meter.report(noWaits).fullWork, { cpuSeconds: 0, audioSeconds: 0 });
});
