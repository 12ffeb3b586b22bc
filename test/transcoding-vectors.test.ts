import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DescService, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import {
  clone,
  create,
  createFileRegistry,
  createRegistry,
  fromJson,
  isMessage,
  setExtension,
  toJson,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "../src/gen/google/api/annotations_pb.ts";
import { HttpRuleSchema } from "../src/gen/google/api/http_pb.ts";
import { emit_unset_fields } from "../src/gen/hlust/api/annotations_pb.ts";
import { ServiceError } from "../src/std/service-error.ts";
import { HttpRuleError } from "../src/transcoding/http-rules.ts";
import { fieldPathsIn } from "../src/transcoding/patch-mask.ts";
import { parsePathTemplate, PathTemplateError } from "../src/transcoding/path-template.ts";
import { isDecodable } from "../src/transcoding/percent-encoding.ts";
import { readJson } from "../src/transcoding/read-json.ts";
import { RouteTable } from "../src/transcoding/route-table.ts";
import { eventStream, jsonLines } from "../src/transcoding/stream-envelope.ts";
import {
  createTranscoder,
  type Transcoder,
  type TranscoderOptions,
} from "../src/transcoding/transcoder.ts";
import { writePath } from "../src/transcoding/write-path.ts";
import { httpBodyOf, writeJson } from "../src/transcoding/write-response.ts";
import { file_transcoding, MSchema, Vectors } from "./gen/transcoding_pb.ts";

/** The vectors that fail for a known reason. */
const deviations: Readonly<Record<string, string>> = {
  "qry-073": "protobuf-es: a JSON name that is another field's proto name is taken for the latter",
  "mat-049": "optional: the mode that keeps all reserved characters encoded does not exist here",
  "bdy-038": "optional: if a name occurs twice in a body, the last one counts, as in JSON.parse()",
};

type Json = JsonValue | undefined;
type Vector = Readonly<Record<string, Json>> & { readonly id: string };

const foreign = process.env["HLUST_VECTORS"];
const isForeign = foreign !== undefined;
const path = foreign ?? join(import.meta.dirname, "vectors/transcoding.json");
const parsed: JsonValue = JSON.parse(readFileSync(path, "utf8"));
const file = objectIn(parsed);
const registry = createRegistry(file_transcoding);

const run: string[] = [];
/** The vectors that passed. */
const passed = new Set<string>();
const deviated: string[] = [];
/** The rows of the table in packages/http-transcoding/README.md. */
const rows: string[] = [];

/**
 * Sections that are not about the transcoder: websocket-vectors.test.ts runs the WebSocket vectors,
 * which belong to the server.
 */
const sectionsElsewhere = ["websocket"];

section("template", (vector) => {
  const text = textIn(vector["template"]);
  if (vector["valid"] !== true) {
    assert.throws(() => parsePathTemplate(text), PathTemplateError);
    return;
  }
  const template = parsePathTemplate(text);
  const segments = template.segments.map((one) => (one.kind === "literal" ? one.text : one.kind));
  assert.deepEqual(segments, vector["segments"]);
  const variables = template.variables.map(({ fieldPath, start, end }) => {
    return { path: fieldPath.join("."), start, end };
  });
  assert.deepEqual(variables, vector["variables"]);
  assert.equal(template.verb, vector["verb"]);
});

section("match", (vector) => {
  const { routes = [], options = {} } = objectIn(
    objectIn(file["routeSets"])[textIn(vector["routeSet"])],
  );
  const { mode, fullyDecodeReservedExpansion } = objectIn(options);
  assert.ok(mode === undefined, `there is no mode ${JSON.stringify(mode)}`);
  const table = new RouteTable<string>({
    fullyDecodeReservedExpansion: fullyDecodeReservedExpansion === true,
  });
  const variables = new Map<string, string[]>();
  for (const route of listIn(routes).map(objectIn)) {
    const template = parsePathTemplate(textIn(route["template"]));
    table.add(textIn(route["method"]), template, textIn(route["id"]));
    variables.set(
      textIn(route["id"]),
      template.variables.map((one) => one.fieldPath.join(".")),
    );
  }
  const requestPath = textIn(vector["path"]);
  const match = (): JsonValue => {
    if (!requestPath.startsWith("/") || !isDecodable(requestPath)) return { badRequest: true };
    const found = table.match(textIn(vector["method"]), requestPath);
    if (found !== undefined) {
      const names = variables.get(found.value) ?? [];
      const bindings = names.map((name, index) => [name, found.captures[index] ?? null]);
      return { route: found.value, bindings: Object.fromEntries(bindings) };
    }
    const allowed = table.methodsAt(requestPath);
    return allowed.length > 0 ? { methodNotAllowed: allowed } : { none: true };
  };
  assert.deepEqual(match(), vector["expect"]);
});

for (const name of ["query", "body"]) {
  section(name, (vector) => {
    // The server checks content types.
    if (objectIn(vector["expect"])["error"] === 415) return "skip";
    const request = objectIn(vector["request"]);
    const expect = objectIn(vector["expect"]);
    const transcoder = transcoderOf(vector);
    const body = bodyOf(request["body"], vector["bodyEncoding"]);
    const run = (): Message => {
      const routed = transcoder.route(textIn(request["method"]), textIn(request["path"]));
      const contentType = request["contentType"];
      return transcoder.bind(routed, body, typeof contentType === "string" ? contentType : "");
    };
    if (expect["error"] === undefined) assertMessage(run(), expect["message"]);
    else assertRefused(run, expect["error"]);
    return undefined;
  });
}

section("response", (vector) => {
  const transcoder = transcoderOf(vector);
  const [binding] = transcoder.bindings;
  assert.ok(binding);
  const message = fromJson(binding.method.output, vector["message"] ?? null, { registry });
  const expect = objectIn(vector["expect"]);
  if (expect["raw"] !== undefined) {
    const body = httpBodyOf(binding, message);
    assert.equal(body && Buffer.from(body.data).toString(), expect["raw"]);
    assert.equal(body?.contentType, expect["contentType"]);
  } else {
    assert.equal(httpBodyOf(binding, message), undefined);
    assert.deepEqual(JSON.parse(transcoder.write(binding, message)), expect["body"]);
  }
});

section("json", (vector) => {
  const text = textIn(vector["json"]);
  const expect = objectIn(vector["expect"]);
  if (expect["error"] !== undefined) {
    assertRefused(() => readJson(MSchema, text, registry), 400);
    return;
  }
  const message = readJson(MSchema, text, registry);
  assert.deepEqual(JSON.parse(writeJson(MSchema, message, registry)), expect["message"]);
});

section("rules", (vector) => {
  const selector = `${Vectors.typeName}.${rpcOf(vector)}`;
  const rules = [{ selector, ...objectIn(vector["rule"]) }];
  const create = (): unknown => createTranscoder([Vectors], { rules });
  if (vector["valid"] === true) create();
  else assert.throws(create, HttpRuleError);
});

section("config", (vector) => {
  const service = serviceWith(objectIn(vector["annotations"] ?? {}), false);
  const rules = listIn(vector["rules"]).map(objectIn);
  const transcoder = createTranscoder([service], {
    rules,
    ...optionsOf(objectIn(vector["options"] ?? {})),
  });
  for (const [method, target, rpc] of listIn(vector["cases"]).map(listIn)) {
    const route = (): string =>
      transcoder.route(textIn(method), textIn(target)).binding.method.name;
    if (rpc === null) assert.throws(route, ServiceError, `${textIn(target)} has no route`);
    else assert.equal(route(), rpc);
  }
});

section("patchMask", (vector) => {
  const json: JsonValue = JSON.parse(textIn(vector["json"]));
  assert.deepEqual(fieldPathsIn(MSchema, json).toSorted(), objectIn(vector["expect"])["paths"]);
});

section("encode", (vector) => {
  const template = parsePathTemplate(textIn(vector["template"]));
  const given = objectIn(vector["values"]);
  const values = template.variables.map(({ fieldPath }) => {
    const value = given[fieldPath.join(".")];
    if (value === undefined || value === null) return { problem: "no value" };
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  const problems: string[] = [];
  const path = writePath(template, values, (_, problem) => problems.push(problem));
  const found = problems.length > 0 ? { error: true } : { path };
  assert.deepEqual(found, vector["expect"], problems.join("; "));
});

/** Stream formats of other implementations, which are not served here. */
const otherStreamFormats: Readonly<Record<string, string>> = {
  "request array": "single messages are received over a WebSocket, gRPC or Connect",
  "response array": "it is not JSON before its end, and has no place for a failure",
  "response ndjson": "without an envelope a failure cannot be distinguished from a message",
  "response sse": "as ndjson",
};

section("stream", (vector) => {
  const text = textIn(vector["body"]);
  const format = `${textIn(vector["kind"])} ${textIn(vector["format"])}`;
  const isEnvelope = /^(?:data: ?)?\{"(?:result|error)":/.test(text);
  const isEvents = format === "response sse" && isEnvelope;
  if (format !== "response gateway" && !isEvents) {
    assert.ok(isForeign || Object.hasOwn(otherStreamFormats, format), `unknown format ${format}`);
    return "skip";
  }
  const { result, error } = isEvents ? eventStream : jsonLines;
  const transcoder = transcoderOf({ ...vector, rule: vector["rule"] ?? { get: "/v1/stream" } });
  const [binding] = transcoder.bindings;
  assert.ok(binding);
  const parts = listIn(vector["messages"] ?? []).map((json) =>
    result(transcoder.write(binding, fromJson(binding.method.output, json, { registry }))),
  );
  const failure = vector["error"];
  if (failure !== undefined) parts.push(error(JSON.stringify(failure), { canRepeat: true }));
  assert.equal(parts.join(""), text);
  return undefined;
});

test("every section of the vectors is run here or in another test", (t) => {
  const known = new Set([...sectionsElsewhere, ...run]);
  const lists = Object.entries(file).filter(([, value]) => Array.isArray(value));
  assert.deepEqual(
    lists.filter(([name]) => !known.has(name)),
    [],
  );
  const skipped = sectionsElsewhere.map((name) => `${name} ${listIn(file[name] ?? []).length}`);
  t.diagnostic(`not the transcoder's: ${skipped.join(", ")}`);
  assert.ok(Object.keys(deviations).length <= 6);
});

test("the tables of conformance of http-transcoding say what passed", { skip: isForeign }, () => {
  const file = join(import.meta.dirname, "../packages/http-transcoding/README.md");
  const readme = readFileSync(file, "utf8");
  const [, table = ""] = /^\| Vectors of .*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  assert.deepEqual(table.trimEnd().split("\n"), rows);
  const [, rules = ""] = /^\| Rule of .*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  const met = Array.from(
    rules.matchAll(/^\|.*\| met \| ([a-z0-9 -]+) \|$/gm),
    ([, ids = ""]) => ids,
  );
  assert.equal(met.length, rules.trimEnd().split("\n").length);
  for (const id of met.flatMap((ids) => ids.split(" "))) assert.ok(passed.has(id), id);
  const own = readFileSync(join(import.meta.dirname, "../src/transcoding/README.md"), "utf8");
  for (const id of deviated) assert.ok(readme.includes(`\`${id}\``) && own.includes(`| ${id}`), id);
  assert.deepEqual(deviated.toSorted(), Object.keys(deviations).toSorted());
});

/**
 * Defines the test of one section, which names every vector that fails and every deviation that no
 * longer fails.
 */
function section(name: string, check: (vector: Vector) => "skip" | void): void {
  run.push(name);
  test(`vectors: ${name}`, (t) => {
    const failed: string[] = [];
    const counts = { passed: 0, deviating: 0, skipped: 0, optional: 0 };
    for (const vector of listIn(file[name] ?? []).map(vectorOf)) {
      const deviates = Object.hasOwn(deviations, vector.id);
      try {
        if (hasOtherOptions(vector) || check(vector) === "skip") counts.skipped++;
        else if (deviates) failed.push(`${vector.id} passes now: remove it from the list`);
        else {
          counts.passed++;
          passed.add(vector.id);
        }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (deviates) {
          counts.deviating++;
          deviated.push(vector.id);
        }
        // A foreign file can have options that are not supported.
        else if (vector["optional"] === true && isForeign) counts.optional++;
        else failed.push(`${vector.id}: ${message}`);
      }
    }
    t.diagnostic(`${name}: ${JSON.stringify(counts)}`);
    rows.push(`| ${name} | ${counts.passed} | ${counts.deviating} | ${counts.skipped} |`);
    assert.deepEqual(failed, []);
    assert.ok(counts.passed > 0 || isForeign);
  });
}

function vectorOf(value: JsonValue): Vector {
  const vector = objectIn(value);
  return { ...vector, id: textIn(vector["id"]) };
}

function rpcOf(vector: Vector): string {
  return typeof vector["rpc"] === "string" ? vector["rpc"] : "Echo";
}

/** Returns a transcoder with the vector's rule as the annotation of a method. */
function transcoderOf(vector: Vector): Transcoder {
  const annotations = { [rpcOf(vector)]: vector["rule"] ?? null };
  const { alwaysEmitImplicit, ...options } = objectIn(vector["options"] ?? {});
  const service = serviceWith(annotations, alwaysEmitImplicit === true);
  return createTranscoder([service], { registry, ...optionsOf(options) });
}

/**
 * Returns the service of the vectors with annotations by method, and its message with the option to
 * show unset fields.
 */
function serviceWith(annotations: JsonObject, emitsUnset: boolean): DescService {
  const proto = clone(FileDescriptorProtoSchema, file_transcoding.proto);
  for (const method of proto.service.flatMap((service) => service.method)) {
    const rule = annotations[method.name];
    if (rule === undefined) continue;
    method.options = create(MethodOptionsSchema);
    setExtension(method.options, http, fromJson(HttpRuleSchema, rule));
  }
  for (const message of proto.messageType) {
    message.options ??= create(MessageOptionsSchema);
    if (emitsUnset) setExtension(message.options, emit_unset_fields, true);
  }
  const files = createFileRegistry(proto, (name) =>
    file_transcoding.dependencies.find((file) => file.proto.name === name),
  );
  const service = files.getService(Vectors.typeName);
  assert.ok(service);
  return service;
}

const knownOptions = new Set(["ignoredQuery", "unknownQuery", "strayBody", "alwaysEmitImplicit"]);

/** Returns whether a vector of a foreign file needs a mode that does not exist here. */
function hasOtherOptions(vector: Vector): boolean {
  const names = Object.keys(objectIn(vector["options"] ?? {}));
  return names.some((name) => !knownOptions.has(name));
}

function optionsOf({ ignoredQuery, unknownQuery, strayBody }: JsonObject): TranscoderOptions {
  return {
    ...(ignoredQuery !== undefined && { systemParameters: listIn(ignoredQuery).map(textIn) }),
    ...(unknownQuery === "ignore" && { unknownQuery }),
    ...(strayBody === "ignore" && { strayBody }),
  };
}

function bodyOf(body: Json, encoding: Json): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  return Buffer.from(textIn(body), encoding === "latin1" ? "latin1" : "utf8");
}

/** Compares messages as canonical JSON, which preserves NaN and -0. */
function assertMessage(message: Message, expected: Json): void {
  const canonical = toJson(MSchema, fromJson(MSchema, expected ?? null, { registry }), {
    registry,
  });
  assert.ok(isMessage(message, MSchema));
  assert.deepEqual(toJson(MSchema, message, { registry }), canonical);
}

function assertRefused(call: () => unknown, status: JsonValue): void {
  const statusOf: Readonly<Record<string, number>> = {
    invalid_argument: 400,
    not_found: 404,
    unimplemented: 405,
  };
  assert.throws(call, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(statusOf[error.code], status === true ? 400 : status);
    return true;
  });
}

function objectIn(value: Json): JsonObject {
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value));
  return value;
}

function listIn(value: Json): JsonValue[] {
  assert.ok(Array.isArray(value));
  return value;
}

function textIn(value: Json): string {
  assert.ok(typeof value === "string");
  return value;
}
