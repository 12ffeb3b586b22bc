import assert from "node:assert/strict";
import { test } from "node:test";
import { type DescribedParameter, targetOf } from "./described-call.ts";

test("a call has its parameters in the path and in the query, encoded", () => {
  const parameter = (
    name: string,
    place: "path" | "query" | "header",
    more: Partial<DescribedParameter> = {},
  ): DescribedParameter => ({ name, in: place, schema: { type: "string" }, ...more });
  const parameters = [
    parameter("transcript", "path"),
    parameter("file", "path", { "x-multiSegment": true }),
    parameter("format", "query"),
    parameter("filter", "query"),
    parameter("states", "query", { schema: { type: "array" } }),
    parameter("idempotency-key", "header"),
  ];
  const path = "/v1/transcripts/{transcript}/files/{file}:read";
  const values = new Map([
    ["transcript", "a/b ?"],
    ["file", "x/y z"],
    ["filter", 'subject = "á&b"'],
    ["states", "A, B"],
    ["idempotency-key", "k"],
  ]);
  assert.equal(
    targetOf({ path, parameters }, values),
    "/v1/transcripts/a%2Fb%20%3F/files/x/y%20z:read?filter=subject+%3D+%22%C3%A1%26b%22&states=A&states=B",
  );
  assert.equal(targetOf({ path: "/v1/account", parameters: [] }, values), "/v1/account");
});
