import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../std/service-error.ts";
import { ShareRates } from "./share-rates.ts";

const minuteMs = 60_000;

test("a share that is read too often is readable again after the time that the error names", () => {
  const rates = new ShareRates(3);
  const at = 1_000 * minuteMs;
  for (let read = 0; read < 3; read++) rates.count("a", at + read);
  rates.count("b", at);
  const refused = errorOf(() => rates.count("a", at + 10));
  assert.equal(refused.reason, "TOO_MANY_REQUESTS");
  assert.deepEqual(refused.metadata, { limit: "requestsPerMinute", value: "3", of: "share" });
  const waitMs = refused.retryAfterMs ?? 0;
  assert.ok(waitMs > 10_000 && waitMs <= 2 * minuteMs, `${waitMs} ms`);
  assert.equal(errorOf(() => rates.count("a", at + waitMs / 2)).reason, "TOO_MANY_REQUESTS");
  rates.count("a", at + 10 + waitMs);
});

function errorOf(act: () => void): ServiceError {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  return assert.fail("is not refused");
}
