import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema, RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { durationFromMs } from "../../std/duration.ts";
import { ApiError, offlineError } from "../api/api-error.ts";
import { failureOf } from "./stream-failure.ts";

const withReason = (code: Code, reason: string, retryMs?: number) =>
  new ConnectError("no", code, undefined, [
    { desc: ErrorInfoSchema, value: { reason, domain: "hlust" } },
    ...(retryMs === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryMs) } }]),
  ]);
const apiError = (status: number, reason: string) => new ApiError("no", { status, reason });

test("failureOf() returns why a stream ended and when to retry", () => {
  const rows: readonly [cause: unknown, failures: number, reason: string, retryMs?: number][] = [
    // The stream reached its maximum length. The next stream starts immediately, unless there were
    // earlier failures.
    [withReason(Code.Unavailable, "STREAM_TOO_LONG", 0), 0, "STREAM_TOO_LONG", 0],
    [withReason(Code.Unavailable, "STREAM_TOO_LONG", 0), 1, "STREAM_TOO_LONG", 1000],
    // The network or the service is unavailable.
    [new ConnectError("lost", Code.Unavailable), 0, "OFFLINE", 500],
    [new ConnectError("lost", Code.Unavailable), 3, "OFFLINE", 4000],
    [offlineError(), 20, "OFFLINE", 10_000],
    [new TypeError("lost"), 0, "OFFLINE", 500],
    [withReason(Code.Unavailable, "NO_ENGINE"), 0, "NO_ENGINE", 500],
    [withReason(Code.Internal, "ENGINE_FAILED"), 0, "ENGINE_FAILED", 500],
    // There are too many streams. The next attempt starts no earlier than the service allows.
    [withReason(Code.ResourceExhausted, "STREAMS_FULL", 5000), 0, "STREAMS_FULL", 5000],
    [apiError(429, "TOO_MANY_STREAMS"), 1, "TOO_MANY_STREAMS", 1000],
    // A token is valid for one stream only, so the next attempt creates another token.
    [withReason(Code.Unauthenticated, "TOKEN_INVALID"), 0, "TOKEN_INVALID", 500],
    // These errors are not temporary.
    [withReason(Code.ResourceExhausted, "AUDIO_LIMIT", 5000), 0, "AUDIO_LIMIT"],
    [withReason(Code.InvalidArgument, "LANGUAGE"), 0, "LANGUAGE"],
    [withReason(Code.PermissionDenied, "SCOPE_MISSING"), 0, "SCOPE_MISSING"],
    [apiError(401, "SIGNED_OUT"), 0, "SIGNED_OUT"],
  ];
  for (const [cause, failures, reason, retryMs] of rows) {
    const failure = failureOf(cause, failures);
    assert.deepEqual([failure.error.reason, failure.retryMs], [reason, retryMs], reason);
  }
});
