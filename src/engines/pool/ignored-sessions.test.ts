import assert from "node:assert/strict";
import { test } from "node:test";
import { openLinkedChild } from "../../../test/fixtures/linked-child.ts";

test("new sessions had better not go to a process that has done nothing for one for ten seconds", async () => {
  await using linked = openLinkedChild();
  const { child, send } = linked;
  const session = linked.open();
  session.endInput();
  const none = { cpuSeconds: 0, audioSeconds: 0 };
  const work = { live: none, short: none, job: none };
  const report = (seconds: number, busy: readonly number[] = []) =>
    send("load", { seconds, live: [], liveLateMs: 0, work, fullWork: none, busy });
  // A report of a process that was suspended for an hour counts as a second.
  for (let count = 0; count < 10; count += 1) report(3_600);
  assert.equal(child.isResponsive, true);
  report(1);
  assert.equal(child.isResponsive, false);
  report(1, [session.id]);
  assert.equal(child.isResponsive, true, "it works on the session");
  for (let count = 0; count < 11; count += 1) report(1);
  assert.equal(child.isResponsive, false);
  send("progress", 100, session.id);
  report(1);
  assert.equal(child.isResponsive, true, "it has sent something for the session");
  for (let count = 0; count < 11; count += 1) report(1);
  assert.equal(child.isResponsive, false);
  child.leave(session);
  assert.equal(child.isResponsive, true, "the session has ended");
});
