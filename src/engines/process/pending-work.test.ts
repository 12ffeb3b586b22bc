import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { PendingWork } from "./pending-work.ts";
import type { ProcessSigns, ThreadSigns } from "../protocol/process-signs.ts";
import { remoteAnswer } from "../protocol/remote-answer.ts";

const looks = 8;
const asleep = { isStopped: false, canRun: false, waitsForDisk: false, starvedMs: 0 };
const still: ProcessSigns = { cpuMs: 0, pageIns: 0, first: asleep, others: asleep };

test("PendingWork finds work hung that takes no CPU, and none that does, waits for something else, or is not there", async () => {
  const first = (signs: Partial<ThreadSigns>) => ({ first: { ...asleep, ...signs } });
  const others = (signs: Partial<ThreadSigns>) => ({ others: { ...asleep, ...signs } });
  const rows: [
    what: string,
    hasWork: boolean,
    signsAt: (look: number) => Partial<ProcessSigns>,
    isHung: boolean,
  ][] = [
    ["nothing to do", false, () => ({}), false],
    ["work that goes on", true, (look) => ({ cpuMs: look * 1e6 }), false],
    ["work that hangs", true, () => ({}), true],
    ["threads that get no core", true, (look) => others({ starvedMs: look * 1e6 }), false],
    ["threads that could run", true, () => others({ canRun: true }), false],
    [
      "only the event loop has or awaits a core",
      true,
      (look) => first({ canRun: true, starvedMs: look * 1e6 }),
      true,
    ],
    ["pages that come from the disk", true, (look) => ({ pageIns: look }), false],
    ["a page that came once", true, (look) => ({ pageIns: Math.min(look, 2) }), true],
    ["a thread that waits for the disk", true, () => others({ waitsForDisk: true }), false],
  ];
  for (const [what, hasWork, signsAt, isHung] of rows) {
    let look = 0;
    const pending = new PendingWork(() => ({ ...still, ...signsAt(look) }));
    const work = Promise.withResolvers<void>();
    if (hasWork) pending.add(work.promise);
    const seen = Array.from({ length: looks }, () => {
      look += 1;
      return pending.looksHung();
    });
    assert.equal(seen.at(-1), isHung, what);
    assert.equal(seen[0], false, `${what}: not at once`);
    work.resolve();
    await turn();
    assert.equal(pending.looksHung(), false, `${what}: when it has ended`);
  }
});

test("PendingWork waits for the answer of another machine as long as it may take, and no longer for work beside it", async () => {
  const never = () => Promise.withResolvers<void>().promise;
  const rows: [what: string, msMax: number, beside: boolean, isHung: boolean][] = [
    ["within its time", 60_000, false, false],
    ["past its time", 0, false, true],
    ["beside work that hangs", 60_000, true, true],
  ];
  for (const [what, msMax, beside, isHung] of rows) {
    const pending = new PendingWork(() => still);
    pending.add(remoteAnswer(never(), msMax));
    if (beside) pending.add(never());
    await turn();
    const seen = Array.from({ length: looks }, () => pending.looksHung());
    assert.equal(seen.at(-1), isHung, what);
  }
});

test("PendingWork counts anew after each piece of work that has ended, also in failure", async () => {
  const pending = new PendingWork(() => still);
  for (let round = 0; round < 5; round++) {
    const work = Promise.withResolvers<void>();
    pending.add(work.promise);
    for (let look = 0; look < 4; look++) assert.equal(pending.looksHung(), false);
    if (round % 2 === 0) work.resolve();
    else work.reject(new Error("failed"));
    await turn();
  }
});
