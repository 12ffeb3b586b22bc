// Rules for every method of the contract. Methods of these services are included automatically.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { access, body_bytes_max } from "../../src/gen/hlust/api/annotations_pb.ts";
import { Speech as GoogleSpeech } from "../../src/gen/google/cloud/speech/v1/speech_pb.ts";
import { Operations } from "../../src/gen/google/longrunning/operations_pb.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { Speech as TiroSpeech } from "../../src/gen/tiro/speech/v1alpha/speech_pb.ts";
import { createTranscoder, type Transcoder } from "../../src/transcoding/transcoder.ts";
import { callRest, openTestService, type TestService } from "./service.ts";

type Binding = Transcoder["bindings"][number];

const speech = [Speech, GoogleSpeech, Operations, TiroSpeech, Vocabulary];
const contract = [Transcripts, ...speech, Accounts, Webhooks, Operator];
const { bindings } = createTranscoder(contract);
const rest = bindings.filter(({ httpMethod }) => httpMethod !== "WEBSOCKET");
const withBody = rest.filter(({ body }) => body !== "");
let service: TestService;
/** A key that can only read transcripts, and a key that cannot even do that. */
let reader: string;
let speaker: string;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const make = async (scope: string): Promise<string> => {
    const { json } = await service.call("POST", "/v1/apiKeys", {
      displayName: scope,
      scopes: [scope],
    });
    return json.secret;
  };
  reader = await make("transcripts.read");
  speaker = await make("speech");
});
after(() => service[Symbol.asyncDispose]());

/** Returns a path of the template, with an id that does not exist. */
function pathOf({ template }: Binding): string {
  const id = "0190a0a0-0000-7000-8000-000000000000";
  return template.replaceAll(/\{[^=}]+=([^}]+)\}/g, (_, inner: string) =>
    inner.replaceAll("*", id),
  );
}

function call(binding: Binding, key: string | undefined, body?: string) {
  const text = binding.body === "" ? undefined : (body ?? "{}");
  return callRest(service.address, key, {
    method: binding.httpMethod,
    path: pathOf(binding),
    body: text,
  });
}

test("every method of the contract is served", () => {
  const methods = contract.flatMap((service) => service.methods);
  assert.deepEqual(
    new Set(bindings.map(({ method }) => method.name)),
    new Set(methods.map(({ name }) => name)),
  );
  assert.ok(methods.every((method) => hasOption(method, access)));
});

test("without a token, every method returns 401 before anything else is checked", async () => {
  for (const binding of rest) {
    const { status, headers, json } = await call(binding, undefined, "{malformed");
    assert.equal(status, 401, binding.method.name);
    assert.equal(headers.get("www-authenticate"), "Bearer");
    assert.equal(json.error.status, "UNAUTHENTICATED");
    assert.equal(json.code, 16);
  }
});

test("without the scope, every method returns 403 with the name of the scope", async () => {
  for (const binding of rest) {
    const { scope } = getOption(binding.method, access);
    const key = scope === "speech" ? reader : speaker;
    const { status, json } = await call(binding, key, "{malformed");
    assert.equal(status === 403, scope !== "", binding.method.name);
    if (scope === "") continue;
    assert.ok(json.message.includes(scope), json.message);
  }
});

test("malformed, unknown and oversized input gets 4xx with the common error body", async () => {
  for (const binding of withBody) {
    const { name } = binding.method;
    const limit = hasOption(binding.method, body_bytes_max)
      ? getOption(binding.method, body_bytes_max)
      : 1 << 20;
    const rows: [body: string, status: number][] = [
      ["{", 400],
      ["[]", 400],
      ['{"noSuchField": 1}', 400],
      [`{"a": "${"\\u0000".repeat(3)}", "b": [[[[[1]]]]]}`, 400],
      [`${" ".repeat(limit)}{}`, 413],
    ];
    for (const [body, expected] of rows) {
      const { status, json } = await call(binding, service.key, body);
      assert.equal(status, expected, `${name} ${body.slice(0, 30)}`);
      assert.equal(json.error.code, status);
      assert.equal(json.message, json.error.message);
      assert.doesNotMatch(JSON.stringify(json), /node_modules|\.ts:|select |insert /i);
    }
  }
  for (const binding of rest.filter(({ body }) => body === "")) {
    const path = `${pathOf(binding)}?noSuchParameter=1`;
    const { status, json } = await service.call(binding.httpMethod, path);
    assert.equal(status, 400, binding.method.name);
    assert.match(json.message, /noSuchParameter/);
  }
});

test("after all these calls the service still works", async () => {
  assert.equal((await service.call("GET", "/readyz")).status, 200);
  const { json } = await service.call("GET", "/v1alpha1/transcripts");
  assert.deepEqual(json, { transcripts: [], nextPageToken: "" });
});
