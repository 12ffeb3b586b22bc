// The responses to refused calls match the document, for every operation.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestService, callRest, type Answer, type TestService } from "../spec/service.ts";
import { document, responseOf } from "./described-service.ts";
import { realized } from "./example-lookup.ts";
import { operationsIn, type PlacedOperation } from "../../src/transcoding/openapi/document.ts";
import { createSchemaChecker } from "./schema-checker.ts";

const check = createSchemaChecker(document.components.schemas, { closed: true });
const operations = operationsIn(document).filter(({ operation }) => operation["x-grpc-path"]);
const rest = operations.filter(({ operation }) => operation["x-websocket"] === undefined);
const withBody = rest.filter(({ operation }) => operation.requestBody !== undefined);
let service: TestService;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(() => service[Symbol.asyncDispose]());

/** Returns the path of an operation, with an id that does not exist. */
function pathOf({ path }: PlacedOperation): string {
  return path.replaceAll(/\{[^}]*\}/g, "0190a0a0-0000-7000-8000-000000000000");
}

/** Returns the body of the operation's first example, which is valid; {} without an example. */
function bodyOf({ operation }: PlacedOperation): unknown {
  const { examples = {} } = operation.requestBody?.content["application/json"] ?? {};
  return realized(new Map(), Object.values(examples)[0]?.value ?? {});
}

/** Returns the example values of the headers that an operation requires. */
function requiredHeaders({ operation }: PlacedOperation): Record<string, string> {
  const required = (operation.parameters ?? []).filter(
    (one) => one.in === "header" && one.required,
  );
  return Object.fromEntries(
    required.map(({ name, example }) => [name, typeof example === "string" ? example : ""]),
  );
}

/** Asserts that a response has the status and that its body, reason and headers are documented. */
function assertDocumented({ operation }: PlacedOperation, answer: Answer, status: number): void {
  const place = `${operation.operationId} ${status}: ${JSON.stringify(answer.json)}`;
  assert.equal(answer.status, status, place);
  const response = responseOf(operation, status);
  assert.ok(response, place);
  const { schema, examples = {} } = response.content?.["application/json"] ?? {};
  assert.ok(schema, place);
  assert.equal(check(schema, answer.json), "", place);
  const [info] = answer.json.details;
  assert.ok(Object.hasOwn(examples, info.reason), `${place}: ${Object.keys(examples).join(", ")}`);
  for (const name of Object.keys(response.headers ?? {})) {
    assert.ok(answer.headers.has(name), `${place} has no ${name}`);
  }
}

test("calls without a token or with a wrong token get 401, as documented", async () => {
  for (const placed of rest) {
    assert.ok(placed.operation.responses["401"]);
    for (const token of [undefined, "hlust_no_such"]) {
      const { method } = placed;
      const call = { method, path: pathOf(placed) };
      assertDocumented(placed, await callRest(service.address, token, call), 401);
    }
  }
});

test("calls without the scope get 403, as documented", async () => {
  for (const placed of rest) {
    const scopes = placed.operation.security.flatMap((one) => Object.values(one).flat());
    if (scopes.length === 0) continue;
    const other = scopes.includes("speech") ? "account" : "speech";
    const { json } = await service.call("POST", "/v1/apiKeys", { scopes: [other] });
    const call = { method: placed.method, path: pathOf(placed) };
    assertDocumented(placed, await callRest(service.address, json.secret, call), 403);
  }
});

test("parameters and bodies that the schemas refuse get 400", async () => {
  for (const placed of rest) {
    const path = `${pathOf(placed)}?noSuchParameter=1`;
    assertDocumented(placed, await service.call(placed.method, path), 400);
  }
  for (const placed of withBody) {
    const { schema = {} } = placed.operation.requestBody?.content["application/json"] ?? {};
    for (const body of [{ noSuchField: 1 }, [], "{"]) {
      assert.notEqual(check(schema, body), "");
      assertDocumented(placed, await service.call(placed.method, pathOf(placed), body), 400);
    }
  }
});

test("a missing required field is refused", async () => {
  let count = 0;
  for (const placed of withBody) {
    const { schema = {} } = placed.operation.requestBody?.content["application/json"] ?? {};
    const good = bodyOf(placed);
    assert.equal(check(schema, good), "");
    assert.ok(typeof good === "object" && good !== null);
    for (const name of Object.keys(good)) {
      const { [name]: _, ...less }: Record<string, unknown> = { ...good };
      if (check(schema, less) === "") continue;
      const answer = await service.call(placed.method, pathOf(placed), less);
      // If the path contains an id, its absence can be detected first.
      assertDocumented(placed, answer, answer.status === 404 ? 404 : 400);
      count++;
    }
  }
  assert.ok(count >= 8, `${count}`);
});

test("the methods that declare 404 and 409 return them", async () => {
  const found = rest.filter(
    ({ path, operation }) => path.includes("{") && operation.responses["404"],
  );
  assert.equal(found.length, rest.filter(({ path }) => path.includes("{")).length);
  for (const placed of found) {
    const body = placed.operation.requestBody && bodyOf(placed);
    const { method } = placed;
    const answer = await service.call(method, pathOf(placed), body, requiredHeaders(placed));
    assertDocumented(placed, answer, 404);
  }
  const update = rest.find(({ method }) => method === "PATCH");
  assert.ok(update);
  const { json } = await service.call("POST", "/v1alpha1/transcripts", {
    metadata: { fileType: "AUDIO", languageCode: "is-IS" },
  });
  const stale = await service.call("PATCH", `/v1alpha1/${json.name}`, bodyOf(update), {
    "if-match": "0190a0a0-0000-7000-8000-000000000000",
  });
  assertDocumented(update, stale, 409);
});

test("bodies over the documented length get 413, and compressed bodies get 415", async () => {
  for (const placed of withBody) {
    const bytesMax = placed.operation.requestBody?.["x-bytesMax"] ?? 0;
    assert.ok(bytesMax > 0);
    const long = `${" ".repeat(bytesMax - 1)}{}`;
    assertDocumented(placed, await service.call(placed.method, pathOf(placed), long), 413);
    const zipped = { "content-encoding": "gzip" };
    assertDocumented(placed, await service.call(placed.method, pathOf(placed), "{}", zipped), 415);
  }
});

test("calls with an unknown HTTP method get 405, or 426 at WebSocket paths", async () => {
  for (const placed of operations) {
    const answer = await service.call("REPORT", pathOf(placed));
    assertDocumented(placed, answer, placed.operation["x-websocket"] ? 426 : 405);
    if (answer.status === 405) assert.ok(answer.headers.get("allow")?.includes(placed.method));
  }
});

test("endpoints outside the contract respond as described", async () => {
  for (const path of ["/healthz", "/readyz", "/startupz", "/openapi.json"]) {
    const placed = operationsIn(document).find((one) => one.path === path);
    const schema =
      placed && responseOf(placed.operation, 200)?.content?.["application/json"]?.schema;
    const answer = await callRest(service.address, undefined, { method: "GET", path });
    assert.equal(answer.status, 200);
    // The parts of a node can report additional facts.
    const open = createSchemaChecker(document.components.schemas);
    assert.equal(open(schema ?? {}, answer.json), "", path);
  }
  const put = operationsIn(document).find((one) => one.operation.operationId === "putMedia");
  assert.ok(put);
  const answer = await callRest(service.address, undefined, { method: "PUT", path: pathOf(put) });
  assert.equal(answer.status, 403);
  assert.equal(answer.json.details[0].reason, "SIGNED_URL_INVALID");
  assert.match(responseOf(put.operation, 403)?.description ?? "", /SIGNED_URL_INVALID/);
});
