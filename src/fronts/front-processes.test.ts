// Tests front processes that hang before they serve, or fail to read their metrics: real processes,
// with a small program.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { openKeptLog } from "../../test/fixtures/kept-log.ts";
import { until } from "../../test/fixtures/until.ts";
import { FrontProcesses } from "./front-processes.ts";
import { SharedPort } from "./shared-port.ts";

/**
 * Opens a front process whose starts do this in turn: `stop`, `wait`, `serve`, or `fail` to read
 * its metrics.
 */
async function openHanging(starts: readonly string[], startMsMax: number) {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "hlust-hung-front-"));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const { log, of } = openKeptLog();
  const port = parts.use(await SharedPort.open({ host: "127.0.0.1", port: 0 }, log));
  const file = join(folder, "started");
  const pids = () => readFileSync(file, "utf8").trim().split("\n").map(Number);
  const fronts = parts.use(
    await FrontProcesses.open(port, {
      count: 1,
      start: { engines: { socketPath: "", credential: "" }, isQuarantined: false },
      environment: { STARTS: starts.join(), STARTED_FILE: file },
      program: resolve(import.meta.dirname, "../../test/fixtures/front-program.ts"),
      startMsMax,
      drainMsMax: () => 0,
      onArrival: () => {},
      scrape: () => Promise.reject(new Error("no metrics are read")),
      log,
      signal: new AbortController().signal,
    }),
  );
  const open = parts.move();
  const unread = () => readFileSync(`${file}.unread`, "utf8").length;
  return { of, pids, fronts, unread, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

const isRunning = (pid: number | undefined) => {
  try {
    return process.kill(pid ?? assert.fail("it was not started"), 0);
  } catch {
    return false;
  }
};

test("a front process that hangs before it serves is given up and replaced, at the start of the node and later", async () => {
  const starts = ["stop", "wait", "serve", "stop", "serve"];
  await using fronts = await openHanging(starts, 3_000);
  // A machine that is busy may also keep one from serving in time, which is then replaced too.
  const [stopped, waiting] = fronts.pids();
  const hung = fronts.of("front.hung");
  assert.deepEqual(
    hung.slice(0, 2).map(({ front, pid, problem }) => ({ front, pid, problem })),
    [stopped, waiting].map((pid) => ({ front: 1, pid, problem: "it did not serve within 3 s" })),
  );
  assert.ok(!isRunning(stopped) && !isRunning(waiting));

  process.kill(fronts.pids().at(-1) ?? assert.fail("none was started"), "SIGKILL");
  await until(async () => Promise.resolve(fronts.of("front.started").length === 1), 60_000);
  const later = fronts.of("front.hung").slice(hung.length);
  assert.equal(later[0]?.["problem"], "it did not serve within 3 s");
  assert.ok(!isRunning(Number(later[0]?.["pid"])));
  // The one that was killed, and the one that hung.
  assert.ok(fronts.of("front.lost").length >= 2);
  assert.ok(isRunning(fronts.pids().at(-1)));
});

test("a front process whose metrics cannot be read goes on, and so does its node", async () => {
  await using opened = await openHanging(["fail"], 60_000);
  const { fronts, pids, of, unread } = opened;
  const [pid] = pids();
  for (let reads = 1; reads <= 2; reads += 1) {
    const measured = await fronts.measure();
    assert.deepEqual(measured, [{ name: "front1", connections: 0, families: [] }]);
    assert.equal(unread(), reads, "it has answered, and not just been slow");
  }
  assert.equal(fronts.openStreams, 3);
  assert.ok(isRunning(pid));
  assert.deepEqual(of("front.lost"), []);
  let ended: readonly object[] | undefined;
  fronts.onEnd = (families) => (ended = families);
  await fronts[Symbol.asyncDispose]();
  assert.deepEqual(ended, []);
  assert.equal(unread(), 3);
});
