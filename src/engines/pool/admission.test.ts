import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../std/service-error.ts";
import { Admission, liveLoad, type LoadedProcess } from "./admission.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

/** A process with live sessions that have these demands, and seconds of waiting recordings. */
class TestProcess implements LoadedProcess {
  readonly name: string;
  readonly demands: number[] = [];
  seconds: Record<RecognitionMode, number> = { live: 0, short: 0, job: 0 };
  fullDemand = 0;
  isResponsive = true;
  liveLateMs = 0;

  constructor(name: string) {
    this.name = name;
  }

  get sessions(): number {
    return this.demands.length;
  }

  get liveDemand(): number {
    return this.demands.reduce((sum, demand) => sum + demand, 0);
  }

  uncommittedSeconds(modes: readonly RecognitionMode[]): number {
    return modes.reduce((sum, mode) => sum + this.seconds[mode], 0);
  }
}

/**
 * Admits streams until one is refused. Each adds the expected demand of a live stream. Returns how
 * many were admitted.
 */
function fill(admission: Admission, processes: readonly TestProcess[]): number {
  for (let count = 0; count < 10_000; count++) {
    if (isRefused(() => admit(admission, processes))) return count;
  }
  return Infinity;
}

function admit(admission: Admission, processes: readonly TestProcess[]): TestProcess | undefined {
  const process = admission.admit("live", processes);
  process?.demands.push(admission.liveDemand);
  return process;
}

function isRefused(attempt: () => unknown): boolean {
  try {
    attempt();
    return false;
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, "resource_exhausted");
    assert.ok((error.retryAfterMs ?? 0) >= 1000);
    return true;
  }
}

test("Admission admits as many streams as the cores can serve if all of them carry speech", () => {
  const rows: [cores: number, processes: number, cpuPerSpeech: number, streams: number][] = [
    [2, 2, 0.19, 8],
    [4, 2, 0.19, 8],
    [2, 4, 0.19, 8],
    [2, 4, 0.7, 2],
    [2, 4, 3, 2],
    [2, 1, 0.099, 8],
    [2, 2, 0.0001, 3200],
    [2, 2, 3, 2],
  ];
  for (const [cores, count, cpuPerSpeech, streams] of rows) {
    const processes = Array.from({ length: count }, (_, index) => new TestProcess(`${index}`));
    const admission = new Admission(cores, cpuPerSpeech, () => processes);
    assert.equal(fill(admission, processes), streams, `${cores} ${count} ${cpuPerSpeech}`);
    const load = liveLoad([{ cores, processes: () => processes }]);
    assert.ok(cpuPerSpeech > 1 || (load > 0.75 && load <= 1), String(load));
  }
});

test("Admission limits the sessions of a hosted model by their number, and lets recordings wait", () => {
  const process = new TestProcess("hosted");
  process.liveLateMs = 5000;
  process.seconds.short = 10_000;
  const admission = new Admission(2, 0.2, () => [process], undefined, 12);
  assert.equal(admission.streamsMax([process]), 12);
  assert.equal(admission.streamsMax([]), 0);
  assert.equal(fill(admission, [process]), 12);
  for (const mode of ["short", "job"] as const) {
    assert.equal(admission.admit(mode, [process]), process);
  }
});

test("Admission has room for many silent streams, and admits more when streams end", () => {
  const processes = [new TestProcess("a"), new TestProcess("b")];
  const admission = new Admission(2, 0.2, () => processes);
  // Each stream is measured to cost almost nothing before the next one arrives.
  for (let count = 0; count < 300; count++) {
    const process = admit(admission, processes);
    assert.ok(process);
    process.demands[process.demands.length - 1] = 0.001;
  }
  assert.equal(fill(admission, processes), 6);
  processes[0]?.demands.pop();
  assert.equal(fill(admission, processes), 1);
});

test("Admission admits again after a refusal only when there is some room to spare", () => {
  const process = new TestProcess("a");
  const admission = new Admission(1, 0.15, () => [process]);
  assert.equal(fill(admission, [process]), 5);
  process.demands[0] = 0.03;
  assert.ok(
    isRefused(() => admit(admission, [process])),
    "0.63 + 0.15 is hardly room",
  );
  process.demands[1] = 0.1;
  assert.equal(fill(admission, [process]), 1);
});

test("Admission refuses live streams while processing of live audio is late", () => {
  const process = new TestProcess("a");
  const admission = new Admission(2, 0.1, () => [process]);
  admit(admission, [process]);
  process.liveLateMs = 400;
  assert.ok(isRefused(() => admit(admission, [process])));
  process.liveLateMs = 20;
  assert.ok(admit(admission, [process]));
});

test("Admission counts cores, not processes, even while a process is idle", () => {
  const processes = ["a", "b", "c", "d"].map((name) => new TestProcess(name));
  const admission = new Admission(2, 0.3, () => processes);
  for (const process of processes.slice(0, 2)) process.demands.push(0.9);
  assert.ok(isRefused(() => admit(admission, processes)));
  // One core is free, so a stream is admitted, however slow the engine is.
  const slow = new Admission(2, 3, () => processes);
  processes[1]?.demands.pop();
  assert.ok(admit(slow, processes));
  assert.ok(isRefused(() => admit(slow, processes)));
});

test("Admission reports a process as crowded by a live session that the process cannot serve in time", () => {
  const admission = new Admission(2, 0.2, () => []);
  const rows: [mode: RecognitionMode, share: number, demands: number[], isCrowded: boolean][] = [
    ["live", 0.2, [0.3, 0.2], false],
    ["live", 0.2, [0.4, 0.3], true],
    ["live", 0.02, [0.4, 0.3], false],
    ["live", 2, [], false],
    ["short", 0.2, [0.4, 0.3], false],
    ["job", 0.2, [0.4, 0.3], false],
  ];
  for (const [mode, share, demands, isCrowded] of rows) {
    const process = new TestProcess("a");
    process.demands.push(...demands);
    assert.equal(admission.isCrowded({ mode, demand: { share } }, process), isCrowded);
  }
});

test("Admission learns the cost of speech from load reports", () => {
  const process = new TestProcess("a");
  const admission = new Admission(2, 0.049, () => [process]);
  assert.equal(admission.streamsMax([process]), 16);
  const none = { cpuSeconds: 0, audioSeconds: 0 };
  const live = { cpuSeconds: 0.9, audioSeconds: 3 };
  for (let second = 0; second < 60; second++) {
    admission.learn({
      seconds: 1,
      live: [],
      liveLateMs: 0,
      work: { live, short: none, job: none },
      fullWork: none,
    });
  }
  assert.equal(admission.streamsMax([process]), 2);
});

test("Admission chooses the process with the most room for the mode", () => {
  const [a, b, c] = [new TestProcess("a"), new TestProcess("b"), new TestProcess("c")];
  const admission = new Admission(4, 0.2, () => [a, b, c]);
  const rows: [what: string, mode: RecognitionMode, change: () => void, best: string][] = [
    ["all processes are alike", "live", () => {}, "a"],
    ["fewest sessions", "live", () => a.demands.push(0), "b"],
    ["least demand, not fewest sessions", "live", () => b.demands.push(0.3), "c"],
    [
      "recordings do not delay live streams",
      "live",
      () => (c.seconds = { live: 0, short: 60, job: 60 }),
      "c",
    ],
    ["short recordings delay each other", "short", () => {}, "a"],
    [
      "jobs do not delay short recordings",
      "short",
      () => (a.seconds = { live: 0, short: 0, job: 300 }),
      "a",
    ],
    ["jobs delay each other", "job", () => {}, "b"],
    ["live streams leave less for recordings", "short", () => (a.seconds.short = 10), "b"],
    ["a process that does not respond comes last", "live", () => (c.isResponsive = false), "a"],
  ];
  for (const [what, mode, change, best] of rows) {
    change();
    assert.equal(admission.choose(mode, [a, b, c])?.name, best, what);
  }
  assert.equal(admission.choose("live", []), undefined);
});

test("Admission refuses a recording that would wait too long, but never refuses a job", () => {
  const process = new TestProcess("a");
  const admission = new Admission(1, 0.2, () => [process]);
  process.seconds.short = 95;
  assert.equal(admission.admit("short", [process]), process);
  process.seconds.short = 105;
  assert.ok(isRefused(() => admission.admit("short", [process])));
  assert.equal(admission.admit("job", [process]), process);
  // Live streams take half of the process.
  process.demands.push(0.5);
  process.seconds.short = 60;
  assert.ok(isRefused(() => admission.admit("short", [process])));
});

test("Admission counts the demand of other models' streams on the same machine", () => {
  const [own, other] = [new TestProcess("own"), new TestProcess("other")];
  const admission = new Admission(2, 0.2, () => [own, other]);
  assert.equal(fill(admission, [own]), 4);
  own.demands.length = 0;
  other.demands.push(0.8, 0.4);
  assert.equal(fill(admission, [own]), 2, "of 1.6 cores 0.4 are left");
  own.demands.length = 0;
  own.seconds.short = 60;
  assert.equal(admission.admit("short", [own]), own);
  other.demands.push(0.5);
  assert.ok(
    isRefused(() => admission.admit("short", [own])),
    "a third of a core is left",
  );
});

test("Admission grants full effort only in the room that quick effort of all streams leaves", () => {
  const [a, b] = [new TestProcess("a"), new TestProcess("b")];
  const reset = () => {
    for (const process of [a, b]) {
      process.demands.length = 0;
      Object.assign(process, { fullDemand: 0, isResponsive: true, liveLateMs: 0 });
      process.seconds = { live: 0, short: 0, job: 0 };
    }
    a.demands.push(0.2);
  };
  // Full effort takes 0.3 of a core in addition.
  const admission = new Admission(2, 0.2, () => [a, b], 1.5);
  const rows: [what: string, change: () => void, before: number, isFull: boolean][] = [
    ["one stream", () => {}, 0, true],
    ["two streams in the process", () => a.demands.push(0.2), 0, false],
    ["two streams in two processes", () => b.demands.push(0.2), 0, true],
    ["three streams, most of them silent", () => a.demands.push(0.01, 0.01), 0, false],
    ["another stream has full effort", () => Object.assign(a, { fullDemand: 0.3 }), 0, false],
    ["the stream itself has full effort", () => Object.assign(a, { fullDemand: 0.3 }), 0.3, true],
    ["a stream that has it keeps the last room", () => grow(0.29, 0.3), 0.3, true],
    ["a stream without it needs more room", () => grow(0.29, 0), 0, false],
    ["the cores are busy with others", () => b.demands.push(0.8), 0, false],
    ["live audio is late", () => Object.assign(a, { liveLateMs: 200 }), 0.3, false],
    ["the process does not respond", () => Object.assign(a, { isResponsive: false }), 0, false],
    ["a short recording waits", () => (a.seconds = { live: 0, short: 5, job: 0 }), 0, false],
    ["a job waits", () => (a.seconds = { live: 0, short: 0, job: 500 }), 0, true],
  ];
  const grow = (demand: number, fullDemand: number) => {
    a.demands.splice(0, 1, demand);
    Object.assign(a, { fullDemand });
  };
  for (const [what, change, before, isFull] of rows) {
    reset();
    change();
    assert.equal(admission.fullDemand(a, before) > 0, isFull, what);
  }
  reset();
  assert.equal(new Admission(2, 0.2, () => [a, b]).fullDemand(a, 0), 0, "it has only one effort");
});

test("full effort neither refuses a stream nor counts as load, and its cost is learned", () => {
  const process = new TestProcess("a");
  const admission = new Admission(1, 0.2, () => [process], 1.5);
  for (const _ of [1, 2, 3]) admit(admission, [process]);
  const load = () => liveLoad([{ cores: 1, processes: () => [process] }]);
  const before = load();
  process.fullDemand = 5;
  assert.equal(load(), before);
  assert.ok(admit(admission, [process]), "the fourth stream is admitted as before");
  process.demands.length = 1;
  process.fullDemand = 0;
  assert.ok(admission.fullDemand(process, 0) > 0);
  const none = { cpuSeconds: 0, audioSeconds: 0 };
  const work = { live: { cpuSeconds: 0.6, audioSeconds: 3 }, short: none, job: none };
  for (let second = 0; second < 60; second++) {
    const fullWork = { cpuSeconds: 3, audioSeconds: 3 };
    admission.learn({ seconds: 1, live: [], liveLateMs: 0, work, fullWork });
  }
  assert.equal(admission.fullDemand(process, 0), 0, "it costs a whole core");
  assert.equal(admission.liveDemand.toFixed(2), "0.20");
});
