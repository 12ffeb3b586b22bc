// /openapi.json is a valid OpenAPI 3.1 document that describes the whole contract and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescEnum, DescField, DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { comments } from "../../src/gen/comments.ts";
import { document, operationNamed, responseOf, transcoder } from "./described-service.ts";
import { eventTypes } from "../../src/webhooks/webhook-events.ts";
import { operationsIn, type Schema } from "../../src/transcoding/openapi/document.ts";
import { contract } from "../../src/served-services.ts";
import { createSchemaChecker } from "./schema-checker.ts";

/**
 * The operations outside the contract, which are described by hand in src/server/openapi-doors.ts
 * and openapi-uploads.ts.
 */
const doors = [
  "DELETE /v1alpha1/uploads/{upload}",
  "GET /docs",
  "GET /healthz",
  "GET /media/exports/{transcript}/{version}/{format}",
  "GET /media/waveforms/{media}",
  "GET /media/{media}",
  "GET /openapi.json",
  "GET /readyz",
  "GET /startupz",
  "GET /v1alpha1/shared/{token}",
  "HEAD /media/exports/{transcript}/{version}/{format}",
  "HEAD /media/waveforms/{media}",
  "HEAD /media/{media}",
  "HEAD /v1alpha1/shared/{token}",
  "HEAD /v1alpha1/uploads/{upload}",
  "OPTIONS /v1alpha1/uploads",
  "PATCH /v1alpha1/uploads/{upload}",
  "POST /v1alpha1/uploads",
  "PUT /media/uploads/{upload}",
];

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(JSON.stringify(document)));
  assert.deepEqual(result.errors ?? [], []);
  assert.ok(result.valid);
  assert.equal(validator.version, "3.1");
});

test("the document has every binding of the transcoder, and nothing else", () => {
  const bound = transcoder.bindings.map(({ httpMethod, template }) => {
    const path = template.replaceAll(/\{[^=}]*=([^}]*)\}/g, "$1").replaceAll("*", "{}");
    return `${httpMethod === "WEBSOCKET" ? "GET" : httpMethod} ${path}`;
  });
  const described = operationsIn(document).map(({ path, method }) => `${method} ${path}`);
  const own = described.filter((name) => !doors.includes(name));
  assert.deepEqual(
    own.map((name) => name.replaceAll(/\{[^}]*\}/g, "{}")).toSorted(),
    bound.toSorted(),
  );
  assert.deepEqual(described.filter((name) => doors.includes(name)).toSorted(), doors);
});

test("operations have unique names, and parameters for their path variables", () => {
  const operations = operationsIn(document);
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { path, operation } of operations) {
    const inPath = (operation.parameters ?? []).filter((one) => one.in === "path");
    const names = Array.from(path.matchAll(/\{([^}]*)\}/g), ([, name]) => name);
    assert.deepEqual(
      inPath.map(({ name }) => name),
      names,
      path,
    );
    assert.ok(operation.summary.length > 10, operation.operationId);
    assert.ok(document.tags.some(({ name }) => operation.tags.includes(name)));
  }
});

test("paths, queries and bodies follow the HTTP rules", () => {
  const parametersOf = (id: string) =>
    (operationNamed(id).operation.parameters ?? []).map((one) => `${one.in} ${one.name}`);
  const bodyOf = (id: string): Schema | undefined =>
    operationNamed(id).operation.requestBody?.content["application/json"]?.schema;
  const rows: [id: string, path: string, parameters: string[], body: string | undefined][] = [
    [
      "listTranscripts",
      "GET /v1alpha1/transcripts",
      [
        "query filter",
        "query pageSize",
        "query pageToken",
        "query ordering.direction",
        "query ordering.orderBy",
      ],
      undefined,
    ],
    [
      "getTranscriptVersion",
      "GET /v1alpha1/transcripts/{transcript}/versions/{version}",
      ["path transcript", "path version"],
      undefined,
    ],
    [
      "updateTranscript",
      "PATCH /v1alpha1/transcripts/{transcript}",
      ["path transcript", "query updateMask", "query note", "query merged", "header If-Match"],
      "#/components/schemas/TranscriptPatch",
    ],
    ["createTranscript", "POST /v1alpha1/transcripts", [], "#/components/schemas/TranscriptInput"],
    ["deleteApiKey", "DELETE /v1/apiKeys/{apiKey}", ["path apiKey"], undefined],
    [
      "submitTranscriptJob",
      "POST /v1alpha1/transcriptjob:submit",
      ["header Idempotency-Key"],
      "#/components/schemas/SubmitTranscriptJobRequest",
    ],
  ];
  for (const [id, place, parameters, body] of rows) {
    const { path, method } = operationNamed(id);
    assert.equal(`${method} ${path}`, place);
    assert.deepEqual(parametersOf(id), parameters, id);
    assert.equal(bodyOf(id)?.$ref, body, id);
  }
  // The body does not contain the fields of the path.
  assert.deepEqual(Object.keys(bodyOf("restoreTranscript")?.properties ?? {}), ["version", "note"]);
  assert.deepEqual(bodyOf("restoreTranscript")?.required, ["version"]);
  assert.deepEqual(bodyOf("cancelTranscriptJob")?.properties, {});
  // The metadata of a change has only the fields that change.
  const metadata = bodyOf("modifySegments")?.properties?.["metadata"];
  assert.equal(metadata?.$ref, "#/components/schemas/TranscriptMetadataPatch");
});

test("every operation describes its authentication and its failures", () => {
  for (const { operation, path } of operationsIn(document)) {
    const { operationId: id, security, responses } = operation;
    if (operation["x-grpc-path"] === undefined) {
      const isUpload = id.endsWith("Upload");
      assert.deepEqual(security, isUpload ? [{ bearer: [] }] : [], id);
      continue;
    }
    assert.equal(Object.keys(security[0] ?? {})[0], "bearer", id);
    // The token parameter is for WebSockets and EventSource, for which browsers cannot send
    // headers.
    const isOfGoogle = /^\/v1(?:alpha|p1beta1)?\/(?:speech:|operations)/.test(path);
    const recognizes = path.endsWith("/speech:recognize");
    const takesToken = operation.tags.includes("Speech") || id.startsWith("watch");
    // Google's clients send their key in a header or in the query.
    const count = isOfGoogle ? (recognizes ? 4 : 3) : takesToken ? 2 : 1;
    assert.equal(security.length, count, id);
    for (const status of ["400", "401", "403", "429", "503", "default"]) {
      assert.ok(responses[status], `${id} ${status}`);
    }
    const hasBody = operation.requestBody !== undefined;
    assert.equal(responses["413"] !== undefined, hasBody, id);
    assert.equal(responses["415"] !== undefined, hasBody, id);
    assert.equal(responses["426"] !== undefined, operation["x-websocket"] !== undefined, id);
    assert.ok(responses[operation["x-websocket"] ? "101" : "200"], id);
    const isConditional = operation.parameters?.some((one) => one.name === "If-Match") === true;
    assert.ok(!isConditional || responses["409"], id);
  }
  const { headers } = document.components.responses["Unauthenticated"] ?? {};
  assert.equal(headers?.["WWW-Authenticate"]?.example, 'Bearer error="invalid_token"');
  assert.equal(document.components.responses["TooMany"]?.headers?.["Retry-After"]?.example, "1");
});

test("examples of failures match the schema of errors", () => {
  const check = createSchemaChecker(document.components.schemas, { closed: true });
  const responses = [
    ...Object.values(document.components.responses),
    ...operationsIn(document).flatMap(({ operation }) => Object.values(operation.responses)),
  ];
  let count = 0;
  for (const response of responses) {
    if ("$ref" in response) continue;
    const { schema, examples = {} } = response.content?.["application/json"] ?? {};
    for (const [name, { value }] of Object.entries(examples)) {
      assert.equal(check(schema ?? {}, value), "", name);
      count++;
    }
  }
  assert.ok(count > 50, `${count}`);
});

test("every schema compiles, and every reference resolves", () => {
  const { schemas } = document.components;
  const check = createSchemaChecker(schemas);
  for (const [name, schema] of Object.entries(schemas)) check(schema, name);
  const text = JSON.stringify(document);
  const named = Array.from(text.matchAll(/"#\/components\/(schemas|responses)\/([^"]+)"/g));
  assert.ok(named.length > 100);
  for (const [, kind = "", name = ""] of named) {
    const there: object = kind === "schemas" ? schemas : document.components.responses;
    assert.ok(Object.hasOwn(there, name), `${kind} ${name}`);
  }
  const used = new Set(named.map(([, , name]) => name));
  assert.deepEqual(
    Object.keys(schemas).filter((name) => !used.has(name)),
    [],
  );
});

test("everything public in the contract has a comment", () => {
  const missing: string[] = [];
  const look = (name: string): void => {
    if ((comments[name] ?? "") === "") missing.push(name);
  };
  const seen = new Set<DescMessage | DescEnum>();
  const lookAtEnum = (type: DescEnum): void => {
    if (seen.has(type)) return;
    seen.add(type);
    look(type.typeName);
    for (const { name, number } of type.values) {
      if (number !== 0) look(`${type.typeName}.${name}`);
    }
  };
  const lookAtMessage = (type: DescMessage): void => {
    if (seen.has(type) || type.typeName.startsWith("google.protobuf.")) return;
    seen.add(type);
    look(type.typeName);
    type.fields.forEach((field: DescField) => {
      look(`${type.typeName}.${field.name}`);
      if (field.message) lookAtMessage(field.message);
      if (field.enum) lookAtEnum(field.enum);
    });
  };
  for (const service of contract) {
    look(service.typeName);
    service.methods.forEach((method: DescMethod) => {
      look(`${service.typeName}.${method.name}`);
      lookAtMessage(method.input);
      lookAtMessage(method.output);
    });
  }
  assert.ok(seen.size > 40);
  assert.deepEqual(missing, []);
});

test("the messages to webhooks are described with their headers and the job", () => {
  const { webhooks = {} } = document;
  assert.deepEqual(Object.keys(webhooks), eventTypes);
  for (const [type, { post }] of Object.entries(webhooks)) {
    const schema = post?.requestBody?.content["application/json"]?.schema;
    assert.deepEqual(schema?.properties?.["type"], { const: type });
    const { $ref = "" } = schema?.properties?.["data"] ?? {};
    assert.ok(document.components.schemas[$ref.slice("#/components/schemas/".length)], $ref);
    assert.equal(post?.parameters?.length, 3);
  }
});

test("media is described as bytes, so that generated clients send it unchanged", () => {
  for (const id of ["putMedia", "getMedia"]) {
    const { operation } = operationNamed(id);
    const answer = responseOf(operation, 200);
    const { content } = operation.requestBody ?? answer ?? {};
    assert.deepEqual(content, {
      "application/octet-stream": { schema: { type: "string", format: "binary" } },
    });
  }
  assert.equal(operationNamed("cancelTranscriptJob").operation.requestBody?.required, undefined);
  assert.equal(operationNamed("createTranscript").operation.requestBody?.required, true);
  assert.equal(responseOf(operationNamed("headMedia").operation, 404)?.content, undefined);
});
