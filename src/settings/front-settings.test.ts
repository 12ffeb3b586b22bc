import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config.ts";

test("HLUST_FRONT_PROCESSES is for nodes that answer calls, and 1 by default", () => {
  const countOf = (role: string) =>
    readConfig({ HLUST_FRONT_PROCESSES: "3", HLUST_ROLE: role }).frontProcesses;
  assert.deepEqual(["all", "api", "worker"].map(countOf), [3, 3, 1]);
  assert.equal(readConfig({}).frontProcesses, 1);
});
