import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedHints } from "./shared-hints.ts";

test("equal lists of hints are one object while they are in use", () => {
  const shared = new SharedHints();
  const list = (phrase: string, boost = 10) => [{ phrase, boost }];
  const first = shared.share(list("Ása"));
  assert.equal(shared.share(list("Ása")), first);
  assert.notEqual(shared.share(list("Ása", 5)), first);
  assert.deepEqual(shared.share(list("Ása", 5)), list("Ása", 5));
  // Lists that were not used for a long time are dropped.
  for (let index = 0; index < 40; index += 1) shared.share(list(`orð ${index}`));
  assert.notEqual(shared.share(list("Ása")), first);
});
