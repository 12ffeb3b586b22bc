import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescService } from "@bufbuild/protobuf";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Streams } from "../../../test/gen/streams_pb.ts";
import { Vectors } from "../../../test/gen/transcoding_pb.ts";
import { describeFailures } from "../../server/openapi-failures.ts";
import type { ConfiguredRule } from "../http-rules.ts";
import { registryOf } from "../registry-of.ts";
import { createTranscoder } from "../transcoder.ts";
import { type OpenApiDocument, type Operation, operationsIn } from "./document.ts";
import { createOpenApi } from "./openapi.ts";

const echo = "vectors.v1.Vectors.Echo";

function describe(
  rules: readonly ConfiguredRule[],
  more: { readonly services?: readonly DescService[]; readonly examples?: unknown } = {},
): OpenApiDocument {
  const { services = [Vectors], examples = {} } = more;
  return createOpenApi(createTranscoder(services, { rules }).bindings, {
    info: { title: "Vectors", version: "1", description: "" },
    url: "https://example.org",
    comments: { [echo]: "Answers what it is sent.\n\nEvery field\nof it." },
    examples,
    failures: describeFailures(),
    registry: registryOf(services),
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "" },
      token: { type: "apiKey", in: "query", name: "token", description: "" },
    },
    bodyBytesMax: 1000,
  });
}

function parametersOf({ parameters = [] }: Operation, place: string): string[] {
  return parameters.filter((one) => one.in === place).map(({ name }) => name);
}

test("path templates of every form become OpenAPI paths", () => {
  const rows: [template: string, path: string, parameters: string[]][] = [
    ["/v1/{name=transcripts/*}", "/v1/transcripts/{transcript}", ["transcript"]],
    ["/v1/{name=a/*/bodies/*}:do", "/v1/a/{a}/bodies/{body}:do", ["a", "body"]],
    ["/v1/{id}", "/v1/{id}", ["id"]],
    ["/v1/items/{sub.display_name}", "/v1/items/{displayName}", ["displayName"]],
    ["/v1/{name=files/**}", "/v1/files/{file}", ["file"]],
    ["/v1/{name=**}:get", "/v1/{name}:get", ["name"]],
    ["/v1/*/x", "/v1/{v1}/x", ["v1"]],
    ["/v1/{s}/{name=s/*}", "/v1/{s}/s/{s2}", ["s", "s2"]],
    ["/v1/%7Bx%7D/a@b", "/v1/%7Bx%7D/a@b", []],
    ["/*", "/{segment}", ["segment"]],
  ];
  for (const [template, path, parameters] of rows) {
    const { paths } = describe([{ selector: echo, get: template }]);
    assert.deepEqual(Object.keys(paths), [path]);
    const operation = paths[path]?.get;
    assert.ok(operation);
    assert.deepEqual(parametersOf(operation, "path"), parameters);
  }
  const rest = describe([{ selector: echo, get: "/{name=f/**}" }]).paths["/f/{f}"]?.get;
  assert.equal(rest?.parameters?.[0]?.["x-multiSegment"], true);
  assert.match(rest?.parameters?.[0]?.description ?? "", /`name`, which is `f\/\{f\}`/);
});

test("the query parameters are the leaf fields that are in neither the path nor the body", () => {
  const get = describe([{ selector: echo, get: "/m/{s}" }]).paths["/m/{s}"]?.get;
  assert.ok(get);
  const names = parametersOf(get, "query");
  for (const name of ["i32", "rs", "customJson", "ts", "mask", "wu64", "rts", "os", "item.text"]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ["s", "labels", "items", "st", "any", "item.child.text", "item.child"]) {
    assert.ok(!names.includes(name), name);
  }
  const schemaOf = (name: string) =>
    get.parameters?.find((parameter) => parameter.name === name)?.schema;
  assert.deepEqual(schemaOf("i32"), { type: "integer", format: "int32" });
  assert.equal(schemaOf("rs")?.type, "array");
  assert.equal(schemaOf("e")?.$ref, "#/components/schemas/Color");
  assert.equal(schemaOf("i64")?.type, "string");
  const put = describe([{ selector: echo, put: "/m", body: "item" }]).paths["/m"]?.put;
  assert.ok(put && parametersOf(put, "query").includes("s"));
  assert.ok(!parametersOf(put, "query").some((name) => name.startsWith("item.")));
  assert.equal(
    put.requestBody?.content["application/json"]?.schema?.$ref,
    "#/components/schemas/ItemInput",
  );
  const post = describe([{ selector: echo, post: "/m/{s}", body: "*" }]).paths["/m/{s}"]?.post;
  assert.ok(post);
  assert.deepEqual(parametersOf(post, "query"), []);
  const body = post.requestBody?.content["application/json"]?.schema;
  assert.equal(body?.properties?.["s"], undefined);
  assert.ok(body?.properties?.["sub"]);
  assert.equal(post.requestBody?.["x-bytesMax"], 1000);
});

test("responses are the whole message, its response_body, or bytes", () => {
  const rules: ConfiguredRule[] = [
    {
      selector: echo,
      get: "/whole",
      additional_bindings: [
        { get: "/list", response_body: "rs" },
        { get: "/item", response_body: "item" },
        { get: "/file", response_body: "file" },
      ],
    },
    { selector: "vectors.v1.Vectors.Raw", post: "/raw", body: "*" },
  ];
  const { paths } = describe(rules);
  const contentOf = (operation: Operation | undefined) => {
    const response = operation?.responses["200"];
    return response && "content" in response ? response.content : undefined;
  };
  const schemaOf = (path: string) => contentOf(paths[path]?.get)?.["application/json"]?.schema;
  assert.equal(schemaOf("/whole")?.$ref, "#/components/schemas/M");
  assert.deepEqual(schemaOf("/list"), { type: "array", items: { type: "string" } });
  assert.equal(schemaOf("/item")?.$ref, "#/components/schemas/Item");
  assert.deepEqual(contentOf(paths["/file"]?.get), { "*/*": {} });
  assert.deepEqual(paths["/raw"]?.post?.requestBody?.content, {
    "application/octet-stream": { schema: { type: "string", format: "binary" } },
  });
  assert.deepEqual(
    Object.values(paths).map((item) => (item.get ?? item.post)?.operationId),
    ["echo", "echo_2", "echo_3", "echo_4", "raw"],
  );
});

test("methods of every kind have an operation, and streams describe the form of their body", () => {
  const { paths } = describe([
    {
      selector: echo,
      custom: { kind: "HEAD", path: "/m" },
      additional_bindings: [
        { custom: { kind: "REPORT", path: "/m" } },
        { custom: { kind: "*", path: "/any" } },
        { get: "/v1/{id}" },
        { delete: "/v1/{name}" },
      ],
    },
  ]);
  assert.ok(paths["/m"]?.head);
  assert.deepEqual(Object.keys(paths["/m"]["x-additionalOperations"] ?? {}), ["REPORT"]);
  assert.deepEqual(Object.keys(paths["/any"]?.["x-additionalOperations"] ?? {}), ["*"]);
  // In OpenAPI, both templates are one path, with the variable names of the first template.
  assert.deepEqual(parametersOf(paths["/v1/{id}"]?.delete ?? assert.fail(), "path"), ["id"]);
  const streams = describe([], { services: [Streams] });
  const operations = operationsIn(streams).map(({ operation }) => operation);
  const count = operations.find(({ operationId }) => operationId === "count")?.responses["200"];
  assert.ok(count && "content" in count);
  assert.deepEqual(Object.keys(count.content ?? {}), ["application/x-ndjson", "text/event-stream"]);
  const talk = operations.find((operation) => operation["x-websocket"]);
  assert.ok(talk?.responses["101"] && talk.responses["426"]);
});

test("the document is valid OpenAPI 3.1 for any rules", async () => {
  const documents = [
    describe([{ selector: "vectors.v1.Vectors.Other", post: "/m/{name=a/**}", body: "*" }]),
    describe([], { services: [Streams, Vectors] }),
  ];
  for (const document of documents) {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    assert.deepEqual([valid, errors], [true, undefined]);
  }
});

test("comments become summaries and descriptions", () => {
  const get = describe([{ selector: echo, get: "/m" }]).paths["/m"]?.get;
  assert.equal(get?.summary, "Answers what it is sent");
  assert.equal(get.description, "Every field of it.");
});

test("examples are written by the rule of the binding, and an example that is not a message is refused", () => {
  const example = {
    title: "It's one",
    request: { s: "a b", i32: 7, labels: { x: "y" } },
    answer: {},
  };
  const rule = { selector: echo, post: "/m/{s}", body: "*" };
  const { paths } = describe([rule], { examples: { [echo]: [example] } });
  const [sample] = paths["/m/{s}"]?.post?.["x-codeSamples"] ?? [];
  assert.equal(sample?.label, "It's one");
  assert.match(sample.source, /^curl https:\/\/example\.org\/m\/a%20b \\/);
  assert.match(sample.source, /-d '\{"i32": 7, "labels": \{"x": "y"\}\}'$/);
  const bad: [unknown, RegExp][] = [
    [{ title: "a", request: { nothing: 1 }, answer: {} }, /nothing/],
    [{ title: "a", request: {} }, /expected a request and an answer/],
    [{ request: {}, answer: {} }, /no title/],
    [{ title: "a", request: {}, answer: {}, more: 1 }, /unknown field more/],
    [{ title: "a", stream: [{ send: 1, receive: 2 }] }, /expected either send or receive/],
  ];
  for (const [one, problem] of bad) {
    assert.throws(() => describe([rule], { examples: { [echo]: [one] } }), problem);
  }
});
