import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveDemand } from "./live-demand.ts";

test("LiveDemand begins with the expectation, follows measurements, and forgets old ones", () => {
  const demand = new LiveDemand(0.4);
  assert.equal(demand.share, 0.4);
  demand.measured(0.2, 1);
  assert.ok(Math.abs(demand.share - 0.3) < 1e-9, "both count alike at first");
  for (let second = 0; second < 5; second++) demand.measured(0.2, 1);
  assert.ok(demand.share > 0.2 && demand.share < 0.23, String(demand.share));
  // A single busy second has little weight.
  demand.measured(1, 1);
  assert.ok(demand.share < 0.37, String(demand.share));
  for (let second = 0; second < 20; second++) demand.measured(0, 1);
  assert.ok(demand.share < 0.01, String(demand.share));
});
