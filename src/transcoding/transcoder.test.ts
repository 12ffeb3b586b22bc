import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { Vectors } from "../../test/gen/transcoding_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { createTranscoder } from "./transcoder.ts";

const service = createTranscoder([Speech, Transcripts]);

/** A transcoder with rules for any path, query and body. */
const vectors = createTranscoder([Vectors], {
  rules: [
    {
      selector: "vectors.v1.Vectors.Echo",
      get: "/m/{s}/{i32}/{sub.name=a/**}",
      additional_bindings: [
        { get: "/q/{ou}" },
        { get: "/q" },
        { post: "/all/{name=x/*}", body: "*" },
        { put: "/item", body: "item" },
        { put: "/items", body: "items" },
        { put: "/bytes", body: "by" },
        { put: "/sub", body: "sub" },
        { custom: { kind: "*", path: "/any/{id}:do" }, body: "*" },
      ],
    },
  ],
});

function bind(transcoder: typeof service, request: string, body?: unknown): unknown {
  const [method = "", target = ""] = request.split(" ");
  const routed = transcoder.route(method, target);
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return toJson(routed.binding.method.input, transcoder.bind(routed, bytes));
}

function refused(call: () => unknown): ServiceError {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return error;
  }
  return assert.fail("it was not refused");
}

test("route() distinguishes unknown paths, wrong methods and malformed targets", () => {
  const rows: [request: string, code: string, reason: string, allow?: string][] = [
    ["GET /v1alpha/transcripts", "not_found", "ROUTE_NOT_FOUND"],
    ["GET /v1alpha1/transcripts/", "not_found", "ROUTE_NOT_FOUND"],
    ["GET /v1alpha1//transcripts", "not_found", "ROUTE_NOT_FOUND"],
    ["GET /v1alpha1/transcripts/../transcripts", "not_found", "ROUTE_NOT_FOUND"],
    ["PUT /v1alpha1/transcripts", "unimplemented", "METHOD_NOT_ALLOWED", "GET, POST"],
    [
      "PUT /v1alpha1/transcripts/a?x=%",
      "unimplemented",
      "METHOD_NOT_ALLOWED",
      "DELETE, GET, PATCH",
    ],
    ["get /v1alpha1/transcripts", "unimplemented", "METHOD_NOT_ALLOWED", "GET, POST"],
    ["GET /v1alpha1/transcripts/%", "invalid_argument", "MALFORMED_PATH"],
    ["GET /v1alpha1/transcripts/%ff", "invalid_argument", "MALFORMED_PATH"],
    ["GET /v1alpha1/transcripts/\u00ff", "invalid_argument", "MALFORMED_PATH"],
    ["GET v1alpha1/transcripts", "invalid_argument", "MALFORMED_PATH"],
    ["OPTIONS *", "invalid_argument", "MALFORMED_PATH"],
    ["GET ?x", "invalid_argument", "MALFORMED_PATH"],
  ];
  for (const [request, code, reason, allow] of rows) {
    const [method = "", target = ""] = request.split(" ");
    const error = refused(() => service.route(method, target));
    assert.deepEqual(
      [error.code, error.reason, error.metadata["allow"]],
      [code, reason, allow],
      request,
    );
    assert.equal(error.httpStatus, code === "unimplemented" ? 405 : undefined);
  }
});

test("route() accepts absolute targets and unescaped UTF-8, and keeps the query raw", () => {
  const rows: [target: string, capture: string, query: string][] = [
    ["/v1alpha1/transcripts/a?b=%zz&c", "transcripts/a", "b=%zz&c"],
    ["http://host:80/v1alpha1/transcripts/a%20b?x?y", "transcripts/a b", "x?y"],
    [`/v1alpha1/transcripts/${Buffer.from("þá").toString("latin1")}`, "transcripts/þá", ""],
    ["/v1alpha1/transcripts/%C3%BE%2F", "transcripts/þ%2F", ""],
  ];
  for (const [target, capture, query] of rows) {
    const routed = service.route("GET", target);
    assert.equal(routed.binding.method.name, "GetTranscript");
    assert.deepEqual([routed.captures, routed.query], [[capture], query]);
  }
});

test("bind() creates one message, in which the path takes precedence over the query, and the query over the body", () => {
  const rows: [request: string, body: unknown, message: unknown][] = [
    ["GET /v1alpha1/transcripts", undefined, {}],
    ["GET /v1alpha1/transcripts?", undefined, {}],
    [
      "GET /v1alpha1/transcripts?pageSize=5&page_token=a%2Bb+c&filter=metadata.subject%20CONTAINS%20%22%C3%BE%22",
      undefined,
      { pageSize: 5, pageToken: "a+b c", filter: 'metadata.subject CONTAINS "þ"' },
    ],
    [
      "GET /v1alpha1/transcripts?token=t&key=k&alt=json&prettyPrint=true&fields=a&$.xgafv=1&&",
      undefined,
      {},
    ],
    [
      `GET /v1alpha1/transcripts?filter=${Buffer.from("þ").toString("latin1")}`,
      undefined,
      { filter: "þ" },
    ],
    [
      "POST /v2beta1/speech:recognize?token=t",
      { config: { languageCode: "is-IS" } },
      { config: { languageCode: "is-IS" } },
    ],
    ["POST /v2beta1/speech:recognize", undefined, {}],
    ["POST /v1alpha1/transcripts", { name: "n", segments: [] }, { transcript: { name: "n" } }],
    ["POST /v1alpha1/transcripts", null, {}],
  ];
  for (const [request, body, message] of rows)
    assert.deepEqual(bind(service, request, body), message, request);
  assert.deepEqual(bind(vectors, "POST /all/x/1", { name: "body", s: "a" }), {
    name: "x/1",
    s: "a",
  });
  assert.deepEqual(bind(vectors, "PUT /item?s=x&rs=a&rs=b&sub.i32=3", { text: "t" }), {
    item: { text: "t" },
    s: "x",
    rs: ["a", "b"],
    sub: { i32: 3 },
  });
  assert.deepEqual(bind(vectors, "PUT /bytes?s=x", "AQI"), { by: "AQI=", s: "x" });
  assert.deepEqual(
    bind(vectors, "GET /m/a%2Fb/-7/a/b%2Fc/d?sub.by=AQI&e=2&b=true&ts=2026-01-01T00:00:00Z"),
    {
      s: "a/b",
      i32: -7,
      sub: { name: "a/b%2Fc/d", by: "AQI=" },
      e: "GREEN",
      b: true,
      ts: "2026-01-01T00:00:00Z",
    },
  );
});

test("bind() lists all violations in the path, query and body", () => {
  const error = refused(() =>
    bind(
      vectors,
      "PUT /item?nope=1&i32=x&i32=2&item.text=a&sub=1&items=2&labels=3&rs[]=4&s=%zz&=5&b=1&ri=1&ri=y",
      {
        text: 5,
        child: { n: "many" },
      },
    ),
  );
  assert.deepEqual(
    error.violations.map(({ field, description }) => `${field}: ${description}`),
    [
      'nope: not a query parameter: M has no field "nope"',
      "i32: given more than once",
      "item.text: not a query parameter: it goes in the body",
      "sub: not a query parameter: it is a message",
      "items: not a query parameter: it is a list of messages",
      "labels: not a query parameter: it is a map",
      'rs[]: not a query parameter: M has no field "rs[]"',
      "s: malformed percent-encoding in the query",
      '"": not a query parameter: M has no field ""',
      'i32: expected a whole number, found "x"',
      'b: expected true or false, found "1"',
      'ri[1]: expected a whole number, found "y"',
      "text: expected a string, found 5",
      'child.n: expected a whole number, found "many"',
    ],
  );
});

test("bind() refuses the parts of a request that have no place in the rule", () => {
  const rows: [request: string, body: unknown, message: RegExp][] = [
    ["GET /q", { s: "a" }, /GET \/q does not accept a body/],
    ["POST /all/x/1?s=a", {}, /^s: there are no query parameters here: all fields go in the body$/],
    ["GET /q/5?ou=6", undefined, /^ou: not a query parameter: it is set by the path$/],
    ["GET /q/5?os=x", undefined, /^os: cannot be given together with ou$/],
    ["GET /q?ob=true&os=x", undefined, /^os: cannot be given together with ob$/],
    ["GET /q?displayName=a&display_name=b", undefined, /^display_name: given more than once$/],
    ["GET /m/a/nan/a", undefined, /^i32: expected a whole number, found "nan"$/],
    ["PUT /item", [], /^body: expected an object, found \[\]$/],
    ["PUT /items", [{ n: 1 }, { n: "x" }], /^items\[1\]\.n: expected a whole number/],
    ["PUT /items", {}, /^items: expected a list, found \{\}$/],
    ["PUT /bytes", "?", /^by: expected base64, found "\?"$/],
    ["PUT /any/1:do", 5, /^body: expected an object, found 5$/],
    [`GET /q?${"sub.".repeat(100)}s=x`, undefined, /unknown query parameter/],
  ];
  for (const [request, body, message] of rows) {
    const error = refused(() => bind(vectors, request, body));
    assert.equal(error.code, "invalid_argument");
    assert.match(error.message, message, request);
  }
  const routed = service.route("POST", "/v1alpha1/transcripts");
  for (const body of ["{", "\ufffe", "[".repeat(1e6)]) {
    assert.equal(refused(() => service.bind(routed, Buffer.from(body))).reason, "MALFORMED_JSON");
  }
  assert.match(refused(() => service.bind(routed, Buffer.from([0xff]))).message, /not UTF-8/);
});

test("bind() fills the update mask of a PATCH from the names in the body", () => {
  const path = "/v1alpha1/transcripts/t";
  const rows: [query: string, body: unknown, mask: string][] = [
    [
      "",
      { metadata: { subject: "x", file_type: "AUDIO" }, segments: [] },
      "metadata.subject,metadata.fileType,segments",
    ],
    ["", { metadata: {} }, "metadata"],
    [
      "",
      { metadata: { keywords: [], speakers: { a: {} }, subject: null }, segments: null },
      "metadata.keywords,metadata.speakers",
    ],
    // The field is output-only.
    [
      "",
      { version: { name: "x" }, metadata: { originalUri: "x", subject: "" } },
      "metadata.subject",
    ],
    ["", { metadata: null, uri: null }, ""],
    ["", {}, ""],
    ["", undefined, ""],
    ["?updateMask=metadata.subject,segments", { metadata: {} }, "metadata.subject,segments"],
    ["?update_mask=segments", {}, "segments"],
    [
      "?updateMask=metadata.file_type,metadata.languageCode",
      {},
      "metadata.fileType,metadata.languageCode",
    ],
  ];
  for (const [query, body, mask] of rows) {
    const message = bind(service, `PATCH ${path}${query}`, body);
    assert.ok(typeof message === "object" && message !== null && "updateMask" in message);
    assert.equal(message.updateMask, mask);
  }
  assert.deepEqual(bind(service, `PATCH ${path}`, { name: "transcripts/other" }), {
    transcript: { name: "transcripts/t" },
    updateMask: "",
  });
  const error = refused(() => bind(service, `PATCH ${path}?updateMask=metadata.file_`, {}));
  assert.deepEqual(
    error.violations.map(({ field }) => field),
    ["updateMask"],
  );
});
