import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { clone, create, createFileRegistry, fromJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { file_transcoding, MSchema, Vectors } from "../../test/gen/transcoding_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { registryOf } from "./registry-of.ts";
import { createTranscoder, type Transcoder } from "./transcoder.ts";
import { writeRequest, type WrittenRequest } from "./write-request.ts";

const registry = registryOf([Vectors]);

function transcoderOf(rule: JsonObject): Transcoder {
  const selector = `${Vectors.typeName}.Echo`;
  return createTranscoder([Vectors], { rules: [{ selector, ...rule }], registry });
}

function write(rule: JsonObject, message: JsonObject): WrittenRequest {
  const json = fromJson(MSchema, message, { registry });
  return writeRequest(transcoderOf(rule).bindings, json, registry);
}

test("writeRequest() puts each field in the part of the request that the rule defines", () => {
  const rows: [rule: JsonObject, message: JsonObject, line: string, body?: string][] = [
    [{ get: "/v1/echo" }, {}, "GET /v1/echo"],
    [{ post: "/v1/echo", body: "*" }, {}, "POST /v1/echo", "{}"],
    [
      { get: "/v1/{s}" },
      { s: "a b/ö!'()*", i32: 5 },
      "GET /v1/a%20b%2F%C3%B6%21%27%28%29%2A?i32=5",
    ],
    [{ get: "/v1/{s=**}" }, { s: "a/b c/d" }, "GET /v1/a/b%20c/d"],
    [{ get: "/v1/{s=**}:go" }, { s: "" }, "GET /v1/:go"],
    [{ get: "/v1/{s}:go" }, { s: ".." }, "GET /v1/..:go"],
    [{ get: "/v1/{s=a/*}/x" }, { s: "a/%2F:y" }, "GET /v1/a/%252F%3Ay/x"],
    [{ get: "/v1/$batch,@&=+;!'%2A%3a/{s}" }, { s: "x" }, "GET /v1/$batch,@&=+;!'%2A%3A/x"],
    [
      { post: "/v1/{sub.s}:go", body: "*" },
      { s: "t", sub: { s: "x", i32: 1 } },
      "POST /v1/x:go",
      '{"s":"t","sub":{"i32":1}}',
    ],
    [
      { patch: "/v1/{item.id}", body: "item" },
      { item: { id: "7", text: "t" }, rs: ["a", "b"], e: "RED" },
      "PATCH /v1/7?e=RED&rs=a&rs=b",
      '{"text":"t"}',
    ],
    [{ post: "/v1/x", body: "item" }, { s: "a" }, "POST /v1/x?s=a"],
    [{ post: "/v1/x", body: "item" }, { item: {} }, "POST /v1/x", "{}"],
    [{ post: "/v1/x", body: "items" }, { items: [{ n: 1 }] }, "POST /v1/x", '[{"n":1}]'],
    [{ post: "/v1/x", body: "opt" }, { opt: "" }, "POST /v1/x", '""'],
    [
      { get: "/v1/x" },
      {
        i64: "-9223372036854775808",
        d: -0,
        f: "NaN",
        by: "+/8=",
        displayName: "é&=+",
        sub: { item: { tags: ["", "a b"] } },
        dur: "-1.500s",
        ts: "2026-11-20T10:11:12Z",
        mask: "displayName,sub.s",
        wb: false,
        rwu64: ["1", "2"],
        ob: false,
        opti: 0,
        customJson: "j",
      },
      "GET /v1/x?i64=-9223372036854775808&f=NaN&d=-0&by=%2B%2F8%3D&sub.item.tags=&sub.item.tags=a%20b" +
        "&ts=2026-11-20T10%3A11%3A12Z&dur=-1.500s&mask=displayName%2Csub.s&wb=false&rwu64=1&rwu64=2" +
        "&ob=false&opti=0&displayName=%C3%A9%26%3D%2B&customJson=j",
    ],
    [
      { post: "/v1/x", body: "*" },
      { d: -0, sub: { f: -0 } },
      "POST /v1/x",
      '{"d":-0,"sub":{"f":-0}}',
    ],
    [{ custom: { kind: "*", path: "/v1/{s}" } }, { s: "a" }, "GET /v1/a"],
    [{ custom: { kind: "*", path: "/v1/{s}" }, body: "*" }, { s: "a" }, "POST /v1/a", "{}"],
    [{ custom: { kind: "WebSocket", path: "/v1/x" }, body: "*" }, {}, "WEBSOCKET /v1/x", "{}"],
    [
      { put: "/v1/x", body: "file" },
      { s: "a", file: { contentType: "text/plain", data: "aGk=" } },
      "PUT /v1/x?s=a",
      "text/plain hi",
    ],
  ];
  for (const [rule, message, line, body] of rows) {
    const written = write(rule, message);
    assert.equal(`${written.httpMethod} ${written.target}`, line);
    const { content, contentType = "" } = written.body ?? {};
    const isRaw = content instanceof Uint8Array;
    const found = isRaw ? `${contentType} ${Buffer.from(content).toString()}` : content;
    assert.equal(found, body, line);
    if (content !== undefined && !isRaw) assert.equal(contentType, "application/json");
  }
});

test("writeRequest() refuses fields that a binding cannot express, and names the field", () => {
  const get = { get: "/v1/x" };
  const rows: [rule: JsonObject, message: JsonObject, field: string, problem: RegExp][] = [
    [{ get: "/v1/{s}" }, {}, "s", /empty/],
    [{ get: "/v1/{s}" }, { s: "." }, "s", /"\." cannot be a segment/],
    [{ get: "/v1/{s=**}" }, { s: "a/../b" }, "s", /"\.\." cannot be a segment/],
    [{ get: "/v1/{s=**}" }, { s: "/a" }, "s", /does not match "\*\*"/],
    [{ get: "/v1/{s=a/**}" }, { s: "a//b" }, "s", /does not match "a\/\*\*"/],
    [{ get: "/v1/{s=a/*}" }, { s: "a/" }, "s", /does not match "a\/\*"/],
    [{ get: "/v1/{s=a/*}" }, { s: "b/c" }, "s", /"b\/c" does not match/],
    [{ get: "/v1/{s=a/*}" }, { s: "a/b/c" }, "s", /does not match/],
    [{ get: "/v1/{opt}" }, {}, "opt", /not set/],
    [{ get: "/v1/{sub.display_name=**}" }, {}, "sub.displayName", /not set/],
    [{ get: "/v1/{ts}" }, {}, "ts", /not set/],
    [{ get: "/v1/*/x" }, {}, "/v1/*/x", /"\*"/],
    [get, { labels: { a: "b" } }, "labels", /map/],
    [get, { sub: { items: [{}] } }, "sub.items", /list of messages/],
    [get, { sub: { sub: {} } }, "sub.sub", /without fields/],
    [get, { st: {} }, "st", /any shape/],
    [get, { any: {} }, "any", /any shape/],
    [{ put: "/v1/x", body: "file" }, { file: {} }, "file", /empty/],
    [
      { put: "/v1/x", body: "file" },
      { file: { contentType: "a\nb" } },
      "file.contentType",
      /header/,
    ],
    [
      { put: "/v1/x", body: "file" },
      { file: { data: "aGk=", extensions: [{}] } },
      "file.extensions",
      /not JSON/,
    ],
  ];
  for (const [rule, message, field, problem] of rows) {
    assertRefused(() => write(rule, message), [[field, problem]]);
  }
});

test("writeRequest() refuses values that JSON or UTF-8 cannot express, and names the field", () => {
  const get = { get: "/v1/x" };
  const post = { post: "/v1/x", body: "*" };
  const never = { seconds: 10n ** 15n };
  const rows: [JsonObject, MessageInitShape<typeof MSchema>, field: string, problem: RegExp][] = [
    [{ get: "/v1/{s}" }, { s: "\ud800" }, "s", /unpaired surrogate/],
    [get, { rs: ["a", "\udfff"] }, "rs", /unpaired surrogate/],
    [post, { sub: { rs: ["a", "\udfff"] } }, "sub.rs[1]", /unpaired surrogate/],
    [post, { labels: { "\ud800": "" } }, "labels", /unpaired surrogate/],
    [{ get: "/v1/{ts}" }, { ts: never }, "ts", /must be from 0001/],
    [get, { rts: [never] }, "rts", /must be from 0001/],
    [post, { sub: { rts: [{}, never] } }, "sub.rts[1]", /must be from 0001/],
    [post, { mi: { "a b": {} }, any: { typeUrl: "x/y" } }, "any", /registry/],
    [{ post: "/v1/{s}", body: "item" }, { s: "a", item: { id: "\ud800" } }, "item.id", /unpaired/],
  ];
  for (const [rule, message, field, problem] of rows) {
    const { bindings } = transcoderOf(rule);
    const call = () => writeRequest(bindings, create(MSchema, message), registry);
    assertRefused(call, [[field, problem]]);
  }
});

test("writeRequest() refuses a field whose query parameter is a system parameter", () => {
  const proto = clone(FileDescriptorProtoSchema, file_transcoding.proto);
  for (const field of proto.messageType.flatMap(({ field }) => field)) {
    if (field.name === "display_name") field.jsonName = "key";
    if (field.name === "json_thing") field.jsonName = "$thing";
  }
  const files = createFileRegistry(proto, (name) =>
    file_transcoding.dependencies.find((file) => file.proto.name === name),
  );
  const service = files.getService(Vectors.typeName);
  const method = service?.method["echo"];
  assert.ok(service && method);
  const rules = [{ selector: `${Vectors.typeName}.Echo`, get: "/v1/x" }];
  const { bindings } = createTranscoder([service], { rules });
  const message = create(method.input, { displayName: "a", jsonThing: "b" });
  const problem = /belongs to a parameter of every call/;
  assertRefused(
    () => writeRequest(bindings, message, files),
    [
      ["key", problem],
      ["$thing", problem],
    ],
  );
});

test("writeRequest() uses the first binding that can express the message", () => {
  const rule = {
    get: "/v1/{s=a/*}",
    additionalBindings: [
      { get: "/v1/b/{i32}" },
      { post: "/v1/{s=c/*}", body: "item" },
      { post: "/v1/all", body: "items" },
    ],
  };
  const rows: [message: JsonObject, line: string][] = [
    [{ s: "a/x" }, "GET /v1/a/x"],
    [{ s: "d/x" }, "GET /v1/b/0?s=d%2Fx"],
    [{ s: "c/x", item: { tags: ["t"] } }, "GET /v1/b/0?s=c%2Fx&item.tags=t"],
    [{ s: "c/x", item: { child: {} } }, "POST /v1/c/x"],
    [{ s: "d/x", items: [{}] }, "POST /v1/all?s=d%2Fx"],
  ];
  for (const [message, line] of rows) {
    const { httpMethod, target } = write(rule, message);
    assert.equal(`${httpMethod} ${target}`, line);
  }
  assertRefused(
    () => write(rule, { labels: { a: "" } }),
    [
      ["s", /GET \/v1\/{s=a\/\*}: "" does not match/],
      ["labels", /GET \/v1\/{s=a\/\*}: it is a map/],
      ["labels", /GET \/v1\/b\/{i32}: it is a map/],
      ["s", /POST \/v1\/{s=c\/\*}: "" does not match/],
      ["labels", /POST \/v1\/{s=c\/\*}: it is a map/],
      ["labels", /POST \/v1\/all: it is a map/],
    ],
  );
  assert.throws(
    () => writeRequest([], create(MSchema), registry),
    (error) => error instanceof ServiceError && error.code === "unimplemented",
  );
});

function assertRefused(
  call: () => unknown,
  expected: readonly [field: string, problem: RegExp][],
): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, "invalid_argument");
    assert.deepEqual(
      error.violations.map(({ field }) => field),
      expected.map(([field]) => field),
      error.message,
    );
    for (const [index, [, problem]] of expected.entries()) {
      assert.match(error.violations[index]?.description ?? "", problem);
    }
    return true;
  });
}
