import assert from "node:assert/strict";
import { test } from "node:test";
import { isPassingFailure } from "../describe/passing-failure.ts";
import type { ErrorCode } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";
import { cancelledStatus, failureStatus, internalFailure, poisonFailure } from "./job-failure.ts";

const failure = (code: ErrorCode, reason?: string): ServiceError =>
  new ServiceError(code, "it failed", reason === undefined ? {} : { reason });

const rows: readonly (readonly [unknown, boolean])[] = [
  [new TypeError("undefined is not a function"), true],
  [failure("unavailable"), true],
  [failure("unavailable", "ENGINE_FAILED"), true],
  [failure("unavailable", "STORAGE_UNAVAILABLE"), true],
  [failure("resource_exhausted", "DISK_FULL"), true],
  [failure("unavailable", "MEDIA_UNREACHABLE"), false],
  [failure("unavailable", "MEDIA_BROKEN"), false],
  [failure("resource_exhausted", "MEDIA_TOO_BUSY"), false],
  [failure("invalid_argument", "MEDIA_UNSUPPORTED"), false],
  [failure("failed_precondition"), false],
  [failure("not_found"), false],
  [failure("out_of_range"), false],
  [failure("data_loss"), false],
  [failure("permission_denied"), false],
  [failure("deadline_exceeded"), false],
  [poisonFailure(3), false],
];

test("`isPassingFailure()` is true for failures that another attempt may avoid, not for failures of the media or its server", () => {
  for (const [error, isPassing] of rows)
    assert.equal(isPassingFailure(error), isPassing, String(error));
});

test("`failureStatus()` contains the reason and its metadata for programs", () => {
  const limit = new ServiceError("resource_exhausted", "full", {
    reason: "STORAGE_LIMIT",
    metadata: { bytes: "5" },
  });
  const rows = [
    [failureStatus(limit), 8, { reason: "STORAGE_LIMIT", metadata: { bytes: "5" } }],
    [failureStatus(poisonFailure(3)), 13, { reason: "JOB_POISON", metadata: { tries: "3" } }],
    [failureStatus(internalFailure), 13, { reason: "INTERNAL" }],
    [cancelledStatus, 1, { reason: "JOB_CANCELLED" }],
  ] as const;
  for (const [status, code, info] of rows) {
    assert.equal(status.code, code);
    const type = "type.googleapis.com/google.rpc.ErrorInfo";
    assert.deepEqual(status.details, [{ "@type": type, domain: "hlust", ...info }]);
  }
});
