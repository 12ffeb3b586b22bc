import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { PendingWork } from "./pending-work.ts";
import type { ProcessSigns, ThreadSigns } from "../protocol/process-signs.ts";
import { remoteAnswer } from "../protocol/remote-answer.ts";

const checks = 8;
const asleep = { isStopped: false, canRun: false, waitsForDisk: false, starvedMs: 0 };
const still: ProcessSigns = { cpuMs: 0, pageIns: 0, first: asleep, others: asleep };

test("PendingWork reports work that takes no CPU time as hung, unless the work waits for something else", async () => {
  const first = (signs: Partial<ThreadSigns>) => ({ first: { ...asleep, ...signs } });
  const others = (signs: Partial<ThreadSigns>) => ({ others: { ...asleep, ...signs } });
  const rows: [
    what: string,
    hasWork: boolean,
    signsAt: (check: number) => Partial<ProcessSigns>,
    isHung: boolean,
  ][] = [
    ["no work", false, () => ({}), false],
    ["work that takes CPU time", true, (check) => ({ cpuMs: check * 1e6 }), false],
    ["work that hangs", true, () => ({}), true],
    ["threads that wait for a core", true, (check) => others({ starvedMs: check * 1e6 }), false],
    ["runnable threads", true, () => others({ canRun: true }), false],
    [
      "only the main thread runs or waits for a core",
      true,
      (check) => first({ canRun: true, starvedMs: check * 1e6 }),
      true,
    ],
    ["pages read from the disk", true, (check) => ({ pageIns: check }), false],
    ["a page read once", true, (check) => ({ pageIns: Math.min(check, 2) }), true],
    ["a thread that waits for the disk", true, () => others({ waitsForDisk: true }), false],
  ];
  for (const [what, hasWork, signsAt, isHung] of rows) {
    let check = 0;
    const pending = new PendingWork(() => ({ ...still, ...signsAt(check) }));
    const work = Promise.withResolvers<void>();
    if (hasWork) pending.add(work.promise);
    const seen = Array.from({ length: checks }, () => {
      check += 1;
      return pending.isHung();
    });
    assert.equal(seen.at(-1), isHung, what);
    assert.equal(seen[0], false, `${what}: not at once`);
    work.resolve();
    await turn();
    assert.equal(pending.isHung(), false, `${what}: after its end`);
  }
});

test("PendingWork waits until its limit for the response of another machine, but not for other work", async () => {
  const never = () => Promise.withResolvers<void>().promise;
  const rows: [what: string, msMax: number, withLocal: boolean, isHung: boolean][] = [
    ["within its time", 60_000, false, false],
    ["past its time", 0, false, true],
    ["with local work that hangs", 60_000, true, true],
  ];
  for (const [what, msMax, withLocal, isHung] of rows) {
    const pending = new PendingWork(() => still);
    pending.add(remoteAnswer(never(), msMax));
    if (withLocal) pending.add(never());
    await turn();
    const seen = Array.from({ length: checks }, () => pending.isHung());
    assert.equal(seen.at(-1), isHung, what);
  }
});

test("PendingWork restarts its count when work ends, even with a failure", async () => {
  const pending = new PendingWork(() => still);
  for (let round = 0; round < 5; round++) {
    const work = Promise.withResolvers<void>();
    pending.add(work.promise);
    for (let check = 0; check < 4; check++) assert.equal(pending.isHung(), false);
    if (round % 2 === 0) work.resolve();
    else work.reject(new Error("failed"));
    await turn();
  }
});
