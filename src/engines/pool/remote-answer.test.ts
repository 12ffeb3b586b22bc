import assert from "node:assert/strict";
import { test } from "node:test";
import {
  enginePids,
  finalsWithoutPool,
  recognize,
  speech,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { createLog } from "../../std/log.ts";
import { openEnginePool } from "./engine-pool.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";

const log = createLog("silent");
/** The response of the other machine takes six times this long. */
const stuckMsMax = 500;

test("a process that waits for another machine is not replaced, although it takes no CPU time", async () => {
  await using own = await openEnginePool({ engine: "scripted", processes: 1, log, stuckMsMax });
  const input = [speech(100), speech(200).fill(scriptedOrders.askRemote), speech(100)];
  const before = enginePids();
  const found = await recognize(own, input);
  assert.deepEqual(found, finalsWithoutPool([speech(400)]));
  assert.deepEqual(enginePids(), before);
});
