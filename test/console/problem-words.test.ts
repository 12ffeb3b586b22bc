// The console explains every error of the service in both languages, with what to do next. The
// service's own messages are only in English.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tooManyJobs, tooManyRequests, tooManyStreams } from "../../src/auth/limits.ts";
import { databaseTrouble } from "../../src/database/database-trouble.ts";
import { ApiError } from "../../src/console/api/api-error.ts";
import { problemOf } from "../../src/console/text/problems.ts";

const rows: readonly (readonly [status: number, reason: string])[] = [
  [429, tooManyRequests("account", 60, 1000).reason],
  [429, tooManyJobs("account", 60).reason],
  [429, tooManyStreams("account", 60).reason],
  [503, databaseTrouble(new Error("Connection terminated unexpectedly"))?.reason ?? "none"],
  [504, databaseTrouble(new Error("Query read timeout"))?.reason ?? "none"],
  [503, "STORAGE_UNAVAILABLE"],
  [503, "NO_ENGINE"],
  [403, "ORIGIN_REFUSED"],
  [403, "CONSOLE_HEADER_MISSING"],
  [409, "SESSION_CHANGED"],
  // These come from a proxy in front of the service, or from a newer service.
  ...[403, 404, 429, 500, 502, 503, 504].map((status) => [status, "UNKNOWN"] as const),
];

for (const [status, reason] of rows) {
  test(`a page explains ${status} ${reason} in the user's language`, () => {
    assert.notEqual(reason, "none");
    const { sentence, next } = problemOf(new ApiError("an English message", { status, reason }));
    assert.match(sentence.is, /^\p{Lu}.*\.$/u);
    assert.match(next.is, /^\p{Lu}.*\.$/u);
    assert.notEqual(sentence.is, sentence.en);
  });
}

test("a wrong origin directs the user to the service's address, not to an owner", () => {
  const refused = problemOf(new ApiError("", { status: 403, reason: "ORIGIN_REFUSED" }));
  assert.match(refused.next.en, /address/);
});
