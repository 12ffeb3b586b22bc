import assert from "node:assert/strict";
import { test } from "node:test";
import { FairSemaphore } from "./fair-semaphore.ts";

const { signal } = new AbortController();
const limits = {
  running: 2,
  runningOfOne: 1,
  waitingOfOne: 2,
  waitMsMax: 60_000,
  busyReason: "SEARCHES_BUSY",
};

/** A search that runs until the test ends it. */
function search(lane: FairSemaphore, accountId: string, abort: AbortSignal = signal) {
  const state = { isRunning: false };
  const { promise, resolve } = Promise.withResolvers<void>();
  const ended = lane.run(accountId, abort, async () => {
    state.isRunning = true;
    await promise;
    return accountId;
  });
  ended.catch(() => {});
  const end = async (): Promise<void> => {
    resolve();
    await ended;
    await settled();
  };
  return { state, ended, end };
}

const settled = async (): Promise<void> =>
  await new Promise((resolve) => {
    setImmediate(resolve);
  });

test("FairSemaphore runs one search per account and two in total, and skips accounts with a running search", async () => {
  const lane = new FairSemaphore(limits);
  const [a1, a2, b1, c1] = ["a", "a", "b", "c"].map((account) => search(lane, account));
  assert.ok(a1 && a2 && b1 && c1);
  const running = () => [a1, a2, b1, c1].map(({ state }) => state.isRunning);
  assert.deepEqual(running(), [true, false, true, false]);
  await b1.end();
  assert.deepEqual(running(), [true, false, true, true], "account a has a running search");
  await c1.end();
  assert.deepEqual(running(), [true, false, true, true]);
  await a1.end();
  assert.deepEqual(running(), [true, true, true, true]);
  assert.equal(await c1.ended, "c");
  await a2.end();
});

test("FairSemaphore refuses only accounts with too many waiting searches", async () => {
  const lane = new FairSemaphore(limits);
  const [a, ...waiting] = ["a", "a", "a"].map((account) => search(lane, account));
  assert.ok(a);
  await assert.rejects(search(lane, "a").ended, {
    code: "resource_exhausted",
    reason: "SEARCHES_BUSY",
    retryAfterMs: 1_000,
  });
  const b = search(lane, "b");
  assert.ok(b.state.isRunning);
  await a.end();
  for (const each of waiting) await each.end();
  await b.end();
});

test("FairSemaphore ends waits that take too long or are aborted, and loses no turn", async () => {
  const lane = new FairSemaphore({ ...limits, running: 1, waitMsMax: 1 });
  const first = search(lane, "a");
  await assert.rejects(search(lane, "b").ended, { reason: "SEARCHES_BUSY" });
  const patient = new FairSemaphore({ ...limits, running: 1 });
  const held = search(patient, "a");
  const abort = new AbortController();
  const gone = search(patient, "b", abort.signal);
  const next = search(patient, "c");
  const reason = new Error("gone");
  abort.abort(reason);
  await assert.rejects(gone.ended, reason);
  await assert.rejects(search(patient, "d", abort.signal).ended, reason);
  await held.end();
  assert.ok(next.state.isRunning);
  await next.end();
  await first.end();
});

test("FairSemaphore releases the turn when a search fails", async () => {
  const lane = new FairSemaphore({ ...limits, running: 1 });
  const failure = new Error("failed");
  const failing = lane.run("a", signal, async () => {
    await settled();
    throw failure;
  });
  const next = search(lane, "b");
  await assert.rejects(failing, failure);
  await settled();
  assert.ok(next.state.isRunning);
  await next.end();
});

test("FairSemaphore gives the next turn to the account whose last turn was longest ago", async () => {
  const lane = new FairSemaphore({ ...limits, running: 1, waitingOfOne: 3 });
  const ended: string[] = [];
  const one = async (account: string): Promise<void> => {
    await lane.run(account, signal, async () => {
      await Promise.resolve();
      ended.push(account);
    });
  };
  await Promise.all(["many", "many", "many", "other", "many", "other", "third"].map(one));
  assert.deepEqual(ended, ["many", "other", "third", "many", "other", "many", "many"]);
});
