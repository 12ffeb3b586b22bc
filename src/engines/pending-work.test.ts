import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { PendingWork } from "./pending-work.ts";

const looks = 8;

test("PendingWork finds work hung that takes no CPU, and none that does or is not there", async () => {
  const rows: [what: string, hasWork: boolean, cpuMsALook: number, isHung: boolean][] = [
    ["nothing to do", false, 0, false],
    ["work that goes on", true, 1e6, false],
    ["work that hangs", true, 0, true],
  ];
  for (const [what, hasWork, cpuMsALook, isHung] of rows) {
    let cpuMs = 0;
    const pending = new PendingWork(() => cpuMs);
    const work = Promise.withResolvers<void>();
    if (hasWork) pending.add(work.promise);
    const seen = Array.from({ length: looks }, () => {
      cpuMs += cpuMsALook;
      return pending.looksHung();
    });
    assert.equal(seen.at(-1), isHung, what);
    assert.equal(seen[0], false, `${what}: not at once`);
    work.resolve();
    await turn();
    assert.equal(pending.looksHung(), false, `${what}: when it has ended`);
  }
});

test("PendingWork counts anew after each piece of work that has ended, also in failure", async () => {
  const pending = new PendingWork(() => 0);
  for (let round = 0; round < 5; round++) {
    const work = Promise.withResolvers<void>();
    pending.add(work.promise);
    for (let look = 0; look < 4; look++) assert.equal(pending.looksHung(), false);
    if (round % 2 === 0) work.resolve();
    else work.reject(new Error("failed"));
    await turn();
  }
});
