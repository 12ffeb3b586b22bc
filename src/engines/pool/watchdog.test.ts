import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { type ProcessSigns, readProcessSigns } from "../protocol/process-signs.ts";
import { Watchdog } from "./watchdog.ts";

const stuckMsMax = 300;

/** Starts a process that runs this code; resolves once the code has started. */
async function processThat(code: string) {
  const child = spawn(process.execPath, ["--eval", `console.log("begins");${code}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

function watch(pid: number | undefined, hasWork: () => boolean) {
  let stuck = 0;
  const watchdog = new Watchdog({
    pid: pid ?? 0,
    stuckMsMax,
    hasWork,
    onStuck: () => (stuck += 1),
  });
  return { watchdog, stuck: () => stuck };
}

test("Watchdog reports a process once if it loops, is stopped, is deadlocked or sleeps", async () => {
  const rows: [code: string, signal?: NodeJS.Signals][] = [
    ["for(;;);"],
    ["for(;;);", "SIGSTOP"],
    ["Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"],
    ["setInterval(() => {}, 10_000)"],
  ];
  for (const [code, signal] of rows) {
    const child = await processThat(code);
    if (signal) child.kill(signal);
    const start = performance.now();
    const { watchdog, stuck } = watch(child.pid, () => true);
    await until(() => stuck() > 0, code);
    assert.ok(performance.now() - start >= stuckMsMax, "not before its time");
    await delay(stuckMsMax);
    assert.equal(stuck(), 1);
    watchdog[Symbol.dispose]();
    child.kill("SIGKILL");
  }
});

test("Watchdog does not report a process that gives signs or has no work", async () => {
  const child = await processThat("for(;;);");
  const busy = watch(child.pid, () => true);
  const idle = watch(child.pid, () => false);
  const timer = setInterval(() => busy.watchdog.sign(), stuckMsMax / 5);
  await delay(4 * stuckMsMax);
  clearInterval(timer);
  assert.equal(busy.stuck(), 0);
  assert.equal(idle.stuck(), 0);
  assert.ok(busy.watchdog.silentMs < stuckMsMax);
  assert.ok(idle.watchdog.silentMs > stuckMsMax);
  for (const { watchdog } of [busy, idle]) watchdog[Symbol.dispose]();
  child.kill("SIGKILL");
});

test("Watchdog does not report a process that is starved by a busy machine", async (context) => {
  const works = "for(;;);";
  // The main thread waits for the thread that works.
  const waits = `new Worker("for(;;);", { eval: true }); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`;
  const kept = await Promise.all(
    [
      works,
      `const { Worker } = require("worker_threads"); setTimeout(() => { ${waits} }, 100)`,
    ].map(processThat),
  );
  await until(() => cpuTicks(kept[1]?.pid) > 20, "its thread works");
  // The processes share a core with processes of the highest priority, and get almost no CPU time.
  const core = String(lastCore());
  const ended = (program: string, ...args: string[]) => once(spawn(program, args), "exit");
  const others = await Promise.all([1, 2].map(() => processThat(works)));
  for (const { pid } of [...kept, ...others]) await ended("taskset", "-apc", core, `${pid}`);
  for (const { pid } of kept) await ended("renice", "-n", "19", ...threadsOf(pid));
  await ended("renice", "-n", "-20", "-p", ...others.map(({ pid }) => `${pid}`));
  const watched = kept.map(({ pid }) => watch(pid, () => true));
  const ticks = () => kept.map(({ pid }) => cpuTicks(pid));
  const before = ticks();
  await delay(6 * stuckMsMax);
  const shares = ticks().map((now, at) => ((now - (before[at] ?? 0)) * 10) / (6 * stuckMsMax));
  for (const { watchdog } of watched) watchdog[Symbol.dispose]();
  for (const each of [...kept, ...others]) each.kill("SIGKILL");
  if (Math.max(...shares) > 0.05) {
    context.skip(`they could not be kept from working: ${shares.join()}`);
  } else
    assert.deepEqual(
      watched.map(({ stuck }) => stuck()),
      [0, 0],
    );
});

/**
 * Returns the milliseconds of silence after which a process with these signs is reported; undefined
 * if it is not reported within `msMax`. The signs depend on the milliseconds of silence.
 */
async function stuckAfterMs(
  signsAt: (ms: number) => Partial<Omit<ProcessSigns, "first" | "others">>,
  msMax: number,
): Promise<number | undefined> {
  const [checkMs, thread] = [
    10,
    { isStopped: false, canRun: false, waitsForDisk: false, starvedMs: 0 },
  ];
  let ms = 0;
  let stuckMs: number | undefined;
  using _watchdog = new Watchdog({
    pid: process.pid,
    stuckMsMax: 10 * checkMs,
    hasWork: () => true,
    onStuck: () => (stuckMs = ms),
    readSigns() {
      ms += checkMs;
      return { cpuMs: 0, pageIns: 0, first: thread, others: thread, ...signsAt(ms) };
    },
  });
  await until(() => stuckMs !== undefined || ms >= msMax, "it is checked");
  return stuckMs;
}

test("Watchdog reports a loop that also reads pages from the disk, and a disk wait that takes too long", async () => {
  const loops = (ms: number) => ({ cpuMs: ms, pageIns: ms });
  assert.ok(
    ((await stuckAfterMs(loops, 1_500)) ?? Infinity) <= 200,
    "a loop whose memory is swapped",
  );
  // A tenth of a core, for many times the maximum silence.
  const slow = (ms: number) => ({ cpuMs: ms / 10, pageIns: ms });
  const ms = (await stuckAfterMs(slow, 1_500)) ?? Infinity;
  assert.ok(ms > 800 && ms < 1_500, `slow by the disk: ${ms}`);
});

test("Watchdog does not query the kernel about a process that gives signs", async () => {
  let [checks, reads] = [0, 0];
  using watchdog = new Watchdog({
    pid: process.pid,
    stuckMsMax,
    hasWork: () => (checks += 1) > 0,
    onStuck: () => assert.fail("it gave signs"),
    readSigns(pid) {
      reads += 1;
      return readProcessSigns(pid);
    },
  });
  for (const count of [1, 2, 3, 4]) {
    await until(() => checks >= count, "it is checked");
    watchdog.sign();
  }
  assert.equal(reads, 0);
});

test("readProcessSigns() skips threads that end while it reads them", async () => {
  const threads =
    "import threading\nprint(1, flush=True)\nwhile True: threading.Thread(target=int).start()";
  const child = spawn("python3", ["-c", threads], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const unread = Array.from({ length: 2_000 }, () => readProcessSigns(child.pid ?? 0)).filter(
    (signs) => signs === undefined,
  );
  child.kill("SIGKILL");
  assert.equal(unread.length, 0);
});

/** Returns the renice arguments for all threads of a process. */
function threadsOf(pid: number | undefined): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => ["-p", thread]);
}

function lastCore(): number {
  return readFileSync("/proc/cpuinfo", "utf8").split("processor\t").length - 2;
}

function cpuTicks(pid: number | undefined): number {
  const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = after.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
