import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../gen/google/rpc/error_details_pb.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import type { ErrorCode } from "../std/error-codes.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import {
  answerErrors,
  connectError,
  createAnswerError,
  errorBody,
  statusJson,
} from "./answer-errors.ts";

test("errorBody() has the fields that both families of gateway clients read", () => {
  const error = invalidArgument([
    { field: "config.sampleRateHertz", description: "must be 8000 to 48000, not 7999" },
    { field: "audio.content", description: "is required" },
  ]);
  const { status, body } = errorBody(error);
  assert.equal(status, 400);
  const message =
    "config.sampleRateHertz: must be 8000 to 48000, not 7999; audio.content: is required";
  const details = [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "INVALID_ARGUMENT",
      domain: "hlust",
    },
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [
        { field: "config.sampleRateHertz", description: "must be 8000 to 48000, not 7999" },
        { field: "audio.content", description: "is required" },
      ],
    },
  ];
  assert.deepEqual(JSON.parse(body), {
    code: 3,
    message,
    details,
    error: { code: 400, status: "INVALID_ARGUMENT", message, details },
  });
});

test("errorBody() contains the HTTP status of every code", () => {
  const rows: [ErrorCode, number, number][] = [
    ["cancelled", 1, 499],
    ["unknown", 2, 500],
    ["invalid_argument", 3, 400],
    ["deadline_exceeded", 4, 504],
    ["not_found", 5, 404],
    ["already_exists", 6, 409],
    ["permission_denied", 7, 403],
    ["resource_exhausted", 8, 429],
    ["failed_precondition", 9, 400],
    ["aborted", 10, 409],
    ["out_of_range", 11, 400],
    ["unimplemented", 12, 501],
    ["internal", 13, 500],
    ["unavailable", 14, 503],
    ["data_loss", 15, 500],
    ["unauthenticated", 16, 401],
  ];
  for (const [code, rpc, http] of rows) {
    const error = new ServiceError(code, "x");
    assert.equal(errorBody(error).status, http, code);
    assert.equal(statusJson(error).code, rpc, code);
    assert.equal(connectError(error).code, rpc, code);
  }
});

test("errorBody() adds the headers that belong to a status", () => {
  const headers = (error: ServiceError) => errorBody(error).headers;
  const missing = new ServiceError("unauthenticated", "x", { reason: "TOKEN_MISSING" });
  assert.equal(headers(missing)["www-authenticate"], "Bearer");
  const wrong = new ServiceError("unauthenticated", "x", { reason: "TOKEN_INVALID" });
  assert.equal(headers(wrong)["www-authenticate"], 'Bearer error="invalid_token"');
  const busy = new ServiceError("resource_exhausted", "x", { retryAfterMs: 1500 });
  assert.equal(headers(busy)["retry-after"], "2");
  assert.match(errorBody(busy).body, /"retryDelay":"1.500s"/);
  const method = { metadata: { allow: "GET, PATCH" }, httpStatus: 405 };
  const notAllowed = errorBody(new ServiceError("unimplemented", "x", method));
  assert.equal(notAllowed.status, 405);
  assert.equal(notAllowed.headers["allow"], "GET, PATCH");
});

test("connectError() contains the same details", () => {
  const violations = [{ field: "a", description: "b" }];
  const error = new ServiceError("unavailable", "x", { retryAfterMs: 250, violations });
  const answer = connectError(error);
  assert.equal(answer.findDetails(ErrorInfoSchema)[0]?.reason, "UNAVAILABLE");
  assert.equal(answer.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field, "a");
  assert.equal(answer.findDetails(RetryInfoSchema)[0]?.retryDelay?.nanos, 250_000_000);
});

test("createAnswerError() explains known failures and reports the others", () => {
  const reported: unknown[] = [];
  const away = new Error("ECONNREFUSED /secret/path");
  const answer = createAnswerError(
    (error) =>
      error === away ? new ServiceError("unavailable", "the database is unavailable") : undefined,
    (bug) => reported.push(bug),
  );
  const known = new ServiceError("not_found", "x");
  assert.equal(answer(known), known);
  assert.equal(answer(away).message, "the database is unavailable");
  assert.equal(answer(new ConnectError("late", Code.DeadlineExceeded)).code, "deadline_exceeded");
  assert.equal(reported.length, 0);
  const bug = new TypeError("x is not a function");
  assert.equal(answer(bug).message, "internal error");
  assert.deepEqual(reported, [bug]);
});

test("a call whose client disconnected is not reported as a bug", async () => {
  const reported: unknown[] = [];
  const answer = createAnswerError(
    () => undefined,
    (bug) => reported.push(bug),
  );
  const leaving = new AbortController();
  const over = Promise.withResolvers<unknown>();
  const transport = createRouterTransport(
    (router) =>
      router.service(Health, {
        async check(_request, { signal }) {
          leaving.abort();
          await over.promise.catch(() => {});
          signal.throwIfAborted();
          return {};
        },
      }),
    {
      router: {
        interceptors: [
          (next) => async (request) => {
            request.signal.addEventListener("abort", () => over.resolve(undefined));
            return await next(request);
          },
          (next) => async (request) =>
            await answerErrors(answer)(next)(request).catch((error: unknown) => {
              ended.resolve(error);
              throw error;
            }),
        ],
      },
    },
  );
  const ended = Promise.withResolvers<unknown>();
  const call = createClient(Health, transport).check({}, { signal: leaving.signal });
  await assert.rejects(call, { code: Code.Canceled });
  const error = await ended.promise;
  assert.ok(error instanceof ConnectError && error.code === Code.Canceled, String(error));
  assert.deepEqual(reported, []);
});
