// docs/api.md: GET paths answer HEAD with the status and the headers of the GET. The paths are
// those of the service's own /openapi.json. What it says about calls without a body holds, too.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, speech } from "./alignment.ts";
import { openTestService, type TestService } from "./service.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; required?: boolean }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { schema: { properties?: Record<string, unknown> } }>;
  };
  readonly responses: Record<string, { description?: string }>;
  readonly security: readonly Record<string, unknown>[];
}

let service: TestService;
let document: {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly securitySchemes: Record<string, object> };
};
/** A value of each variable in the paths of the document. */
let values: Record<string, string>;
/** A value of each required parameter of a query. */
let inQuery: Record<string, string>;
/** The signed URLs, by their paths in the document. */
let signed: Record<string, string>;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  document = (await service.call("GET", "/openapi.json")).json;
  const calls = new AlignmentCalls(service);
  const name = await calls.create(speech);
  const get = async () => (await service.call("GET", `/v1alpha1/${name}`)).json;
  await until(async () => (await get()).metadata.waveformUri !== "", 60_000);
  const { version, metadata, uri } = await get();
  const send = async (path: string, body: object) => {
    const { status, json } = await service.call("POST", path, body);
    assert.equal(status, 200, JSON.stringify(json));
    return json;
  };
  const job = await send("/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode: "is-IS", fileType: "AUDIO" },
    useUri: true,
    uri: "http://127.0.0.1:9/a.wav",
  });
  const webhook = await send("/v1/webhooks", { url: "https://hooks.example.org/head" });
  const share = await send(`/v1alpha1/${name}/shares`, {});
  const exported = await send(`/v1alpha1/${name}:signExport`, { format: "SRT" });
  const alignment = await calls.begin(name);
  const draft = { baseVersion: version.name, content: Buffer.from("{}").toString("base64") };
  const saved = await service.call("PUT", `/v1alpha1/${name}/draft`, draft);
  assert.equal(saved.status, 200, JSON.stringify(saved.json));
  const idOf = (resource: string): string => resource.split("/").at(-1) ?? "";
  values = {
    transcript: idOf(name),
    version: idOf(version.name),
    transcriptjob: idOf(job.name),
    alignmentjob: idOf(alignment),
    operation: idOf(job.name),
    webhook: idOf(webhook.webhook.name),
    token: idOf(share.uri),
  };
  inQuery = { format: "SRT", names: name };
  signed = {
    "/media/{media}": uri,
    "/media/waveforms/{media}": metadata.waveformUri,
    "/media/exports/{transcript}/{version}/{format}": exported.uri,
  };
});
after(() => service[Symbol.asyncDispose]());

/** The operations of the document. */
function operations(): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Returns a target of this path. Every variable of a path must have a value. */
function targetOf(path: string, { parameters = [] }: Operation): string {
  const url = signed[path];
  if (url !== undefined) return url.replace(service.address, "");
  const query = parameters.filter((one) => one.in === "query" && one.required === true);
  const filled = path.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
    return values[name] ?? assert.fail(`${path}: no value of ${name}`);
  });
  return query.reduce((target, { name }) => {
    const value = inQuery[name] ?? assert.fail(`${path}: no value of ${name}`);
    return `${target}?${name}=${value}`;
  }, filled);
}

/** Returns the status and the headers of an answer, without those of one connection or request. */
async function headersOf(method: string, target: string) {
  const leaving = new AbortController();
  const response = await fetch(service.address + target, {
    method,
    headers: { authorization: `Bearer ${service.key}` },
    signal: leaving.signal,
  });
  const headers = Object.fromEntries(response.headers);
  const text = method === "HEAD" ? await response.text() : "";
  leaving.abort();
  for (const name of perAnswer) delete headers[name];
  return { answer: { status: response.status, headers }, text };
}

const perAnswer = "date x-request-id transfer-encoding content-length connection keep-alive".split(
  " ",
);

test("HEAD of every GET in openapi.json has its status and headers, and no body", async () => {
  const gets = operations().filter(({ method }) => method === "get");
  assert.ok(gets.length > 35, `${gets.length}`);
  for (const { path, operation } of gets) {
    const target = targetOf(path, operation);
    const get = await headersOf("GET", target);
    const head = await headersOf("HEAD", target);
    const expected = operation.responses["101"] ? 426 : 200;
    assert.equal(get.answer.status, expected, target);
    assert.deepEqual(head.answer, get.answer, target);
    assert.equal(head.text, "", target);
    assert.equal(await statusOverHttp2(target), expected, target);
  }
});

async function statusOverHttp2(target: string): Promise<unknown> {
  const session = connect(service.address);
  const authorization = `Bearer ${service.key}`;
  const stream = session.request({ ":method": "HEAD", ":path": target, authorization });
  const [headers]: Record<string, unknown>[] = await once(stream, "response");
  stream.resume();
  await once(stream, "close");
  session.close();
  return headers?.[":status"];
}

test("HEAD of a stream that fails has the status of the GET", async () => {
  const absent = "0190a0a0-0000-7000-8000-000000000000";
  for (const path of [`transcriptjob/${absent}:watch`, `transcripts/${absent}:watch`]) {
    const target = `/v1alpha1/${path}`;
    const head = await headersOf("HEAD", target);
    assert.deepEqual(head, await headersOf("GET", target), target);
    assert.equal(head.answer.status, 404, target);
  }
});

test("a verb without fields needs no body, and openapi.json requires none", async () => {
  const absent = "0190a0a0-0000-7000-8000-000000000000";
  const verbs = operations().filter(({ operation: { requestBody } }) => {
    const schema = requestBody?.content["application/json"]?.schema;
    return schema?.properties !== undefined && Object.keys(schema.properties).length === 0;
  });
  const names = verbs.map(({ operation }) => operation.operationId).toSorted();
  assert.deepEqual(names, [
    "cancelAlignmentJob",
    "cancelModelTask",
    "cancelOperation",
    "cancelTranscriptJob",
    "createSignInLink",
    "redeliverWebhookDelivery",
    "retryTranscriptJob",
    "rotateWebhookSecret",
    "testWebhook",
  ]);
  for (const { path, method, operation } of verbs) {
    assert.equal(operation.requestBody?.required, undefined, operation.operationId);
    const target = service.address + path.replaceAll(/\{[^}]*\}/g, absent);
    const headers = { authorization: `Bearer ${service.key}` };
    const answer = await fetch(target, { method: method.toUpperCase(), headers });
    assert.equal(answer.status, 404, `${path}: ${await answer.text()}`);
  }
});

test("openapi.json describes no body of an answer to HEAD", () => {
  const heads = operations().filter(({ method }) => method === "head");
  assert.ok(heads.length >= 5, `${heads.length}`);
  for (const { path, operation } of heads) {
    for (const [status, response] of Object.entries(operation.responses)) {
      assert.deepEqual(
        Object.keys(response).filter((key) => /^(?:content|\$ref)$/.test(key)),
        [],
      );
      assert.ok(response.description, `${path} ${status}`);
    }
  }
});

test("openapi.json has the header in which Google's clients send their key", async () => {
  const { apiKeyHeader } = document.components.securitySchemes;
  assert.deepEqual(
    { ...apiKeyHeader, description: "" },
    { type: "apiKey", in: "header", name: "X-Goog-Api-Key", description: "" },
  );
  const taken = operations().filter(({ operation }) =>
    operation.security.some((one) => "apiKeyHeader" in one),
  );
  const isOfOperations = (path: string) => /^\/v1(?:p1beta1)?\/operations/.test(path);
  const paths = taken.map(({ path }) => path).filter((path) => !isOfOperations(path));
  assert.deepEqual(paths.toSorted(), [
    "/v1/speech:longrunningrecognize",
    "/v1/speech:recognize",
    "/v1alpha/speech:recognize",
    "/v1p1beta1/speech:longrunningrecognize",
    "/v1p1beta1/speech:recognize",
  ]);
  assert.equal(taken.length - paths.length, 8, "all methods of operations");
  for (const path of paths) {
    for (const [key, status] of [
      [service.key, 400],
      ["hlust_x_y", 401],
    ] as const) {
      const headers = { "x-goog-api-key": key };
      const answer = await fetch(service.address + path, { method: "POST", headers, body: "{}" });
      assert.equal(answer.status, status, path);
    }
  }
});
