import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "./within.ts";

test("within() returns whether a task ended in time, and throws its error", async () => {
  assert.equal(await within(60_000, Promise.resolve("done")), true);
  assert.equal(await within(1, new Promise(() => {})), false);
  await assert.rejects(within(60_000, Promise.reject(new Error("broken"))), { message: "broken" });
  const late = Promise.withResolvers<void>();
  assert.equal(await within(1, late.promise), false);
  late.reject(new Error("ignored"));
});
