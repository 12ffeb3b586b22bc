import assert from "node:assert/strict";
import { test } from "node:test";
import { enginePids, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { createLog } from "../../std/log.ts";
import { findModels } from "./loadable-models.ts";
import { thisMachine } from "./machine.ts";
import { ModelProcesses } from "./model-processes.ts";

test("a process that dies while others of its model are still loading is restarted once", async () => {
  const { models } = await findModels("scripted", "");
  const [model] = models;
  assert.ok(model);
  await using processes = new ModelProcesses({
    model,
    processes: 2,
    waitsFor: 2,
    log: createLog("silent"),
    stuckMsMax: 10_000,
    ready: { notify() {} },
    machine: thisMachine(() => []),
  });
  const others = enginePids();
  const own = () => enginePids().filter((pid) => !others.includes(pid));
  const opening = processes.open();
  await until(() => own().length === 2, "both are started");
  const [, slow = 0] = own();
  process.kill(slow, "SIGSTOP");
  await until(() => processes.children().length === 1, "one is ready");
  process.kill(processes.children()[0]?.pid ?? 0, "SIGKILL");
  await until(() => processes.children().length === 0, "it has ended");
  // The other process becomes ready before the killed process has restarted.
  process.kill(slow, "SIGCONT");
  await opening;
  await until(() => processes.children().length === 2, "both are ready");
  await until(() => own().length === 2, "there are no more");
});

test("ModelProcesses waits for the first of its processes, and the others follow", async () => {
  const { models } = await findModels("scripted", "");
  const [model] = models;
  assert.ok(model);
  await using processes = new ModelProcesses({
    model,
    processes: 3,
    waitsFor: 1,
    log: createLog("silent"),
    stuckMsMax: 10_000,
    ready: { notify() {} },
    machine: thisMachine(() => []),
  });
  await processes.open();
  assert.equal(processes.children().length, 1);
  assert.equal(processes.engine?.name, "scripted");
  await until(() => processes.children().length === 3, "the others have followed");
});
