import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../../std/service-error.ts";
import { Admission, type LoadedProcess } from "./admission.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

/** A process with sessions of so much demand, and so many seconds of recordings. */
class TestProcess implements LoadedProcess {
  readonly name: string;
  readonly demands: number[] = [];
  seconds: Record<RecognitionMode, number> = { live: 0, short: 0, job: 0 };
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

  unsettledSeconds(modes: readonly RecognitionMode[]): number {
    return modes.reduce((sum, mode) => sum + this.seconds[mode], 0);
  }
}

/** Lets streams in until one is refused; each needs what is expected. */
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

test("Admission lets in as many streams as can be heard while all of them speak", () => {
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
    const load = admission.load();
    assert.ok(cpuPerSpeech > 1 || (load > 0.75 && load <= 1), String(load));
  }
});

test("Admission has room for all who are silent, and lets in again when others leave", () => {
  const processes = [new TestProcess("a"), new TestProcess("b")];
  const admission = new Admission(2, 0.2, () => processes);
  // Each is found to cost next to nothing before the next one comes.
  for (let count = 0; count < 300; count++) {
    const process = admit(admission, processes);
    assert.ok(process);
    process.demands[process.demands.length - 1] = 0.001;
  }
  assert.equal(fill(admission, processes), 6);
  processes[0]?.demands.pop();
  assert.equal(fill(admission, processes), 1);
});

test("Admission that has refused asks for some room to spare before it lets in again", () => {
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

test("Admission lets in less when audio waits for its turn, whatever the reason", () => {
  const process = new TestProcess("a");
  const admission = new Admission(2, 0.1, () => [process]);
  admit(admission, [process]);
  process.liveLateMs = 400;
  assert.ok(isRefused(() => admit(admission, [process])));
  process.liveLateMs = 20;
  assert.ok(admit(admission, [process]));
});

test("Admission counts cores, not processes, also where a process is idle", () => {
  const processes = ["a", "b", "c", "d"].map((name) => new TestProcess(name));
  const admission = new Admission(2, 0.3, () => processes);
  for (const process of processes.slice(0, 2)) process.demands.push(0.9);
  assert.ok(isRefused(() => admit(admission, processes)));
  // One core is free: its stream is let in, however slow the engine.
  const slow = new Admission(2, 3, () => processes);
  processes[1]?.demands.pop();
  assert.ok(admit(slow, processes));
  assert.ok(isRefused(() => admit(slow, processes)));
});

test("Admission finds a process crowded by a live session that it cannot hear in time", () => {
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

test("Admission learns from what is measured", () => {
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
    });
  }
  assert.equal(admission.streamsMax([process]), 2);
});

test("Admission chooses where the mode and those before it leave most room", () => {
  const [a, b, c] = [new TestProcess("a"), new TestProcess("b"), new TestProcess("c")];
  const admission = new Admission(4, 0.2, () => [a, b, c]);
  const rows: [what: string, mode: RecognitionMode, change: () => void, best: string][] = [
    ["all alike", "live", () => {}, "a"],
    ["fewest sessions", "live", () => a.demands.push(0), "b"],
    ["least demand, not fewest sessions", "live", () => b.demands.push(0.3), "c"],
    [
      "recordings do not matter to live",
      "live",
      () => (c.seconds = { live: 0, short: 60, job: 60 }),
      "c",
    ],
    ["they do to a recording", "short", () => {}, "a"],
    ["jobs do not", "short", () => (a.seconds = { live: 0, short: 0, job: 300 }), "a"],
    ["they do to a job", "job", () => {}, "b"],
    ["live leaves less for recordings", "short", () => (a.seconds.short = 10), "b"],
    [
      "who is in the middle of something long comes last",
      "live",
      () => (c.isResponsive = false),
      "a",
    ],
  ];
  for (const [what, mode, change, best] of rows) {
    change();
    assert.equal(admission.choose(mode, [a, b, c])?.name, best, what);
  }
  assert.equal(admission.choose("live", []), undefined);
});

test("Admission refuses a recording that would wait too long, and never a job", () => {
  const process = new TestProcess("a");
  const admission = new Admission(1, 0.2, () => [process]);
  process.seconds.short = 95;
  assert.equal(admission.admit("short", [process]), process);
  process.seconds.short = 105;
  assert.ok(isRefused(() => admission.admit("short", [process])));
  assert.equal(admission.admit("job", [process]), process);
  // Half of the process is there for live streams.
  process.demands.push(0.5);
  process.seconds.short = 60;
  assert.ok(isRefused(() => admission.admit("short", [process])));
});

test("Admission counts what the streams of other models take of the machine", () => {
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
