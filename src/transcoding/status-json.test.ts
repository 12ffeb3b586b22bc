import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry, fromJsonString, toJson } from "@bufbuild/protobuf";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { writeStatus } from "./status-json.ts";

const registry = createRegistry(file_google_rpc_error_details);

test("a failure is a google.rpc.Status with the details that apply", () => {
  const error = new ServiceError("resource_exhausted", "too many calls", {
    reason: "TOO_MANY",
    violations: [{ field: "a", description: "is wrong" }],
    metadata: { allow: "GET" },
    retryAfterMs: 1500,
  });
  const { status, headers, body } = writeStatus(error, "library.example");
  assert.equal(status, 429);
  assert.deepEqual(headers, {
    "content-type": "application/json",
    allow: "GET",
    "retry-after": "2",
  });
  const written = fromJsonString(StatusSchema, body, { registry });
  assert.deepEqual(toJson(StatusSchema, written, { registry }), {
    code: 8,
    message: "too many calls",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "TOO_MANY",
        domain: "library.example",
        metadata: { allow: "GET" },
      },
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "a", description: "is wrong" }],
      },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.500s" },
    ],
  });
});

test("an error that is not a ServiceError is not shown to callers", () => {
  const { status, body } = writeStatus(new Error("password hunter2"), "library.example");
  assert.equal(status, 500);
  assert.doesNotMatch(body, /hunter2/);
  assert.equal(JSON.parse(body).code, 13);
});
