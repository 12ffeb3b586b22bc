// Tests that names that every JavaScript object inherits are valid as names of fields, map keys,
// parameters and values.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { create, createFileRegistry, toJson } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { MSchema, Vectors } from "../../test/gen/transcoding_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { readJson } from "./read-json.ts";
import { createTranscoder, type Transcoder } from "./transcoder.ts";

const names = ["constructor", "toString", "hasOwnProperty", "valueOf", "__proto__"];

/**
 * A transcoder for a service with a message whose fields have these names, in proto and in JSON.
 */
const transcoder = (() => {
  const label = Label.OPTIONAL;
  const fields = names.map((name, at) => {
    return { name, jsonName: name, number: at + 1, type: Type.STRING, label };
  });
  const message = { type: Type.MESSAGE, typeName: ".p.M", label };
  const file = create(FileDescriptorProtoSchema, {
    name: "p.proto",
    package: "p",
    syntax: "proto3",
    messageType: [
      {
        name: "M",
        field: [
          ...fields,
          { ...message, name: "sub", jsonName: "sub", number: 20 },
          { ...message, name: "prototype", jsonName: "prototype", number: 21 },
        ],
      },
    ],
    service: [{ name: "S", method: [{ name: "A", inputType: ".p.M", outputType: ".p.M" }] }],
  });
  const service = createFileRegistry(file, () => undefined).getService("p.S");
  assert.ok(service);
  const additional = [
    { post: "/all", body: "*" },
    ...names.flatMap((name) => [
      { put: `/body/${name}`, body: name },
      { get: `/path/{${name}}/{sub.${name}}/${name}` },
      { get: `/answer/${name}`, response_body: name },
    ]),
  ];
  return createTranscoder([service], {
    rules: [{ selector: "*", get: "/q", additional_bindings: additional }],
  });
})();

function call(transcoder: Transcoder, request: string, body?: string): unknown {
  const [method = "", target = ""] = request.split(" ");
  const routed = transcoder.route(method, target);
  const message = transcoder.bind(routed, body === undefined ? undefined : Buffer.from(body));
  return JSON.parse(transcoder.write(routed.binding, message));
}

test("fields named like inherited properties of JavaScript objects are bound", () => {
  for (const name of names) {
    const [one, two] = [`{"${name}":"x"}`, `{"${name}":"x","sub":{"${name}":"y"}}`];
    const rows: [request: string, body: string | undefined, json: string][] = [
      [`GET /q?${name}=x`, undefined, one],
      [`GET /q?sub.${name}=y&${name}=x`, undefined, two],
      [`GET /q?prototype.sub.${name}=x`, undefined, `{"prototype":{"sub":${one}}}`],
      [`GET /path/x/y/${name}`, undefined, two],
      ["POST /all", one, one],
      ["POST /all", two, two],
      [`PUT /body/${name}`, '"x"', one],
      [`PUT /body/${name}?sub.${name}=y`, '"x"', two],
    ];
    for (const [request, body, json] of rows) {
      assert.deepEqual(call(transcoder, request, body), JSON.parse(json), request);
    }
    assert.throws(() => call(transcoder, `GET /q?${name}=x&${name}=y`), /given more than once$/);
    assert.throws(() => call(transcoder, `GET /q?${name}.x=y`), /has no fields/);
  }
});

test("inherited names that are not fields are refused and change nothing", () => {
  const vectors = createTranscoder([Vectors], {
    rules: [
      {
        selector: "vectors.v1.Vectors.Echo",
        get: "/q",
        additional_bindings: [{ post: "/all", body: "*" }],
      },
    ],
  });
  for (const name of names) {
    for (const [request, body] of [
      [`GET /q?${name}=x`],
      [`GET /q?sub.${name}=x`],
      [`GET /q?${name}.polluted=x`],
      [`GET /q?constructor.prototype.polluted=x&${name}[polluted]=x`],
      ["POST /all", `{"${name}":{"polluted":1}}`],
      ["POST /all", `{"sub":{"${name}":{"polluted":1}}}`],
      ["POST /all", `{"e":"${name}"}`],
      ["POST /all", `{"im":{"${name}":1}}`],
      ["POST /all", `{"any":{"@type":"${name}"}}`],
      ["POST /all", `{"any":{"${name}":"x"}}`],
      [`${name} /q`],
      [`GET /${name}`],
    ] as const) {
      assert.throws(() => call(vectors, request, body), ServiceError, `${request} ${body}`);
    }
    const maps = `{"labels":{"${name}":"x"},"mi":{"${name}":{"id":"${name}"}},"st":{"${name}":{"polluted":true}}}`;
    assert.deepEqual(toJson(MSchema, readJson(MSchema, maps)), JSON.parse(maps));
    assert.deepEqual(call(vectors, `GET /q?s=${name}`), { s: name });
  }
  assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
});

test("a response of one field is empty if that field is not set", () => {
  for (const name of names) {
    assert.equal(call(transcoder, `GET /answer/${name}`), "");
    assert.equal(call(transcoder, `GET /answer/${name}?${name}=x`), "x");
  }
});
