import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { readConfig } from "../config.ts";
import { frontsForCores } from "./front-settings.ts";

test("HLUST_FRONT_PROCESSES is for nodes that answer calls, and by cores by default", () => {
  const countOf = (role: string) =>
    readConfig({ HLUST_FRONT_PROCESSES: "3", HLUST_ROLE: role }).frontProcesses;
  assert.deepEqual(["all", "api", "worker"].map(countOf), [3, 3, 1]);
  assert.equal(readConfig({}).frontProcesses, frontsForCores(availableParallelism()));
  assert.equal(readConfig({ HLUST_ROLE: "worker" }).frontProcesses, 1);
  assert.deepEqual([1, 2, 4, 7, 8, 12, 16, 96].map(frontsForCores), [1, 1, 1, 1, 2, 3, 4, 4]);
});
