// The service accepts every example of the contract, and its responses match the document.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import type { UnaryExample } from "../../src/transcoding/openapi/contract-examples.ts";
import { readJson } from "../../src/transcoding/read-json.ts";
import { writeRequest } from "../../src/transcoding/write-request.ts";
import { speak } from "../fixtures/flite.ts";
import { consoleHeaders } from "../fixtures/signed-in.ts";
import { unsentMail } from "../fixtures/unsent-mail.ts";
import { until } from "../fixtures/until.ts";
import { AlignmentCalls, slow, speech } from "../spec/alignment.ts";
import { pollJob } from "../spec/jobs.ts";
import { openMediaHost, type MediaHost } from "../spec/media-host.ts";
import { openTestService, pcmOf, type Answer, type TestService } from "../spec/service.ts";
import { openStream } from "../spec/stream.ts";
import { openBusyModelsFolder } from "./busy-models-folder.ts";
import { document, registry, responseOf, transcoder } from "./described-service.ts";
import { operationsIn } from "../../src/transcoding/openapi/document.ts";
import {
  exampleIn,
  examplesOf,
  first,
  methodNamed,
  methods,
  operationOf,
  realized,
  unaryExamples,
} from "./example-lookup.ts";
import { firstLineIn } from "./first-line-in.ts";
import { createSchemaChecker } from "./schema-checker.ts";
import { shapeOf } from "./shape-of.ts";

const check = createSchemaChecker(document.components.schemas, { closed: true });

let service: TestService;
let host: MediaHost;
/** The values of the examples that are different here, such as ids, with the values used here. */
const real = new Map<string, string>();
const called = new Set<string>();

before(async () => {
  const wav = speak("good morning");
  host = await openMediaHost({ "/talk.wav": wav, "/hangs.wav": () => {}, "/taken": Buffer.of() });
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  real.set("https://media.example.org/morgunfundur.mp3", `${host.address}/talk.wav`);
  real.set("https://hooks.example.org/transcripts", `${host.address}/taken`);
  real.set("AAABAAIAAwAEAAUABgAHAAgACQAKAAsADAANAA4ADwA=", pcmOf(wav).toString("base64"));
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** Returns the HTTP request of an example, whose method counts as called. */
function requestOf(name: string, example: UnaryExample) {
  const method = methodNamed(name);
  called.add(`${method.parent.typeName}.${method.name}`);
  const message = fromJson(method.input, realized(real, example.request), { registry });
  const bindings = transcoder.bindings.filter((binding) => binding.method === method);
  return { method, ...writeRequest(bindings, message, registry) };
}

/** Sends an example over REST; the response must match the document. */
async function send(name: string, example: UnaryExample): Promise<Answer> {
  const { method, httpMethod, target, body } = requestOf(name, example);
  const answer = await service.call(
    httpMethod,
    target,
    body?.content,
    realized(real, example.headers),
  );
  assert.equal(answer.status, 200, `${name}, ${example.title}: ${JSON.stringify(answer.json)}`);
  const { operation } = operationOf(method);
  const schema = responseOf(operation, 200)?.content?.["application/json"]?.schema;
  assert.ok(schema, name);
  assert.equal(check(schema, answer.json), "", name);
  return answer;
}

/**
 * Sends an example and returns the text of its response, which must have a type that the document
 * declares.
 */
async function textOf(name: string, example: UnaryExample): Promise<string> {
  return await (await answerTo(name, example)).text();
}

async function answerTo(name: string, example: UnaryExample): Promise<Response> {
  const { method, httpMethod, target } = requestOf(name, example);
  const headers = { ...realized(real, example.headers), authorization: `Bearer ${service.key}` };
  const answer = await fetch(`${service.address}${target}`, { method: httpMethod, headers });
  assert.equal(answer.status, 200, `${name}, ${example.title}`);
  const [type = ""] = answer.headers.get("content-type")?.split(";") ?? [];
  assert.ok(responseOf(operationOf(method).operation, 200)?.content?.[type], type);
  return answer;
}

/**
 * Sends every example of the methods. Each response must have the same fields as the response of
 * the example. Returns the last response.
 */
async function sendAll(...names: string[]): Promise<Answer["json"]> {
  let last: Answer["json"];
  for (const name of names) {
    for (const example of unaryExamples(name)) {
      const { json } = await send(name, example);
      assert.deepEqual(shapeOf(json), shapeOf(example.answer), `${name}, ${example.title}`);
      last = json;
    }
  }
  return last;
}

test("examples match the schemas, and every method has one", () => {
  for (const method of methods) {
    const bindings = transcoder.bindings.filter((binding) => binding.method === method);
    if (bindings.length === 0) continue;
    const { operation } = operationOf(method);
    const examples = examplesOf(method);
    assert.ok(examples.length > 0, method.name);
    for (const example of examples) {
      if ("stream" in example) {
        const socket = operation["x-websocket"];
        assert.ok(socket, method.name);
        for (const message of example.stream) {
          if ("send" in message) {
            assert.equal(check(socket.send, message.send), "", example.title);
            readJson(method.input, JSON.stringify(message.send), registry);
          } else {
            assert.equal(check(socket.receive, message.receive), "", example.title);
          }
        }
        continue;
      }
      const { content } = responseOf(operation, 200) ?? {};
      const success = (content?.["application/json"] ?? content?.["application/x-ndjson"])?.schema;
      assert.equal(check(success ?? {}, example.answer), "", `${method.name}, ${example.title}`);
    }
    const { schema = {}, examples: bodies = {} } =
      operation.requestBody?.content["application/json"] ?? {};
    for (const [title, { value }] of Object.entries(bodies)) {
      assert.equal(check(schema, value), "", `${method.name}, ${title}`);
    }
    // Each example is a sample of at least one of the method's operations.
    const path = `/${method.parent.typeName}/${method.name}`;
    const labels = operationsIn(document)
      .filter(({ operation }) => operation["x-grpc-path"] === path)
      .flatMap(({ operation }) => operation["x-codeSamples"] ?? [])
      .map(({ label }) => label);
    const titles = examples.flatMap((example) => ("request" in example ? [example.title] : []));
    assert.deepEqual(new Set(labels), new Set(titles), method.name);
  }
});

test("examples of transcripts get the documented responses, in the order of a transcript's life", async () => {
  const { name } = await sendAll("CreateTranscript");
  real.set(exampleIn("CreateTranscript", "name"), name);
  await sendAll("CountTranscripts", "ListFirstWords");
  const { version } = await sendAll("ListTranscripts", "GetTranscript");
  const list = await firstLineOf("WatchTranscripts");
  assert.deepEqual(shapeOf(list), shapeOf(first("WatchTranscripts").answer));
  real.set(exampleIn("GetTranscript", "version", "name"), version.name);
  const updated = await sendAll("UpdateTranscript");
  assert.equal(updated.version.parent, version.name);
  real.set(exampleIn("UpdateTranscript", "version", "name"), updated.version.name);
  await sendAll("ListTranscriptVersions", "GetTranscriptVersion", "DiffTranscriptVersions");
  const draft = await sendAll("SaveTranscriptDraft", "GetTranscriptDraft");
  real.set(exampleIn("GetTranscriptDraft", "etag"), draft.etag);
  await sendAll("DeleteTranscriptDraft", "ModifyReview", "GetReview", "ReportPresence");
  const seen = await firstLineOf("WatchTranscript");
  assert.deepEqual(shapeOf(seen), shapeOf(first("WatchTranscript").answer));
  for (const example of unaryExamples("ExportTranscript")) {
    assert.equal(await textOf("ExportTranscript", example), example.answer);
  }
  const { uri } = await sendAll("SignTranscriptExport");
  assert.ok(uri.startsWith(`${service.address}/media/exports/`), uri);
  const share = await sendAll("CreateShare");
  real.set(exampleIn("CreateShare", "name").slice(-36), share.name.slice(-36));
  await sendAll("ListShares", "DeleteShare");
  await sendAll("ImportTranscript", "ModifySegments", "RestoreTranscript");
  const [forJob, forTranscript] = unaryExamples("InitUpload");
  assert.ok(forJob && forTranscript);
  const { json: upload } = await send("InitUpload", forJob);
  assert.deepEqual(shapeOf(upload), shapeOf(forJob.answer));
  await send("InitUpload", forTranscript);
  real.set(exampleIn("InitUpload", "resourceName"), upload.resourceName);
  const body = speak("good evening");
  assert.equal((await fetch(upload.storageSignedUrl, { method: "PUT", body })).status, 200);
  await sendAll("BinTranscripts", "ListBinnedTranscripts", "RestoreBinnedTranscripts");
  await sendAll("DeleteBinnedTranscripts", "DeleteTranscript");
});

test("examples of jobs get the documented responses", async () => {
  const submits = unaryExamples("SubmitTranscriptJob");
  for (const example of submits.toReversed()) {
    const { json } = await send("SubmitTranscriptJob", example);
    assert.deepEqual(shapeOf(json), shapeOf(example.answer));
    await pollJob(service, json.name);
    real.set(exampleIn("SubmitTranscriptJob", "name"), json.name);
  }
  const { answer: done } = unaryExamples("GetTranscriptJob")[1] ?? {};
  for (const example of unaryExamples("GetTranscriptJob")) {
    const { json } = await send("GetTranscriptJob", example);
    assert.deepEqual(shapeOf(json), shapeOf(done));
  }
  const watched = first("WatchTranscriptJob");
  const lines = await textOf("WatchTranscriptJob", watched);
  const { answer: end } = unaryExamples("WatchTranscriptJob")[1] ?? {};
  assert.deepEqual(
    shapeOf(JSON.parse(lines)),
    shapeOf(end),
    "for a job that has ended, only the end",
  );
  const [everything, change] = unaryExamples("WatchTranscriptJobs");
  assert.ok(everything && change);
  const all = await firstLineIn(await answerTo("WatchTranscriptJobs", everything));
  const shape = new Set(shapeOf(JSON.parse(all)));
  assert.deepEqual(
    shapeOf(change.answer).filter((path) => !shape.has(path)),
    [],
    "the jobs have ended, so the first message has all fields of a later one",
  );
  const { json: list } = await send("ListTranscriptJobs", first("ListTranscriptJobs"));
  assert.equal(list.jobs.length, 2);
  const { json: hanging } = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: `${host.address}/hangs.wav`,
  });
  real.set(exampleIn("SubmitTranscriptJob", "name"), hanging.name);
  const { json: cancelled } = await send("CancelTranscriptJob", first("CancelTranscriptJob"));
  const { answer: example } = first("CancelTranscriptJob");
  assert.ok(typeof example === "object" && example !== null && "error" in example);
  assert.deepEqual([cancelled.state, cancelled.error], ["CANCELLED", example.error]);
  await sendAll("RetryTranscriptJob");
  await sendAll("DeleteTranscriptJob");
});

test("examples of operations get the documented responses", async () => {
  const begun = await sendAll("LongRunningRecognize");
  real.set(exampleIn("LongRunningRecognize", "name"), begun.name);
  const { json: waited } = await send("WaitOperation", first("WaitOperation"));
  const { json: done } = await send("GetOperation", first("GetOperation"));
  assert.deepEqual([done.done, done], [true, waited]);
  const { json: list } = await send("ListOperations", first("ListOperations"));
  assert.deepEqual([list.operations.length, list.operations[0].name], [1, begun.name]);
  await sendAll("CancelOperation", "DeleteOperation");
});

test("examples of alignment jobs get the documented responses", async () => {
  const calls = new AlignmentCalls(service);
  const name = await calls.create(speech);
  const example = first("SubmitAlignmentJob");
  real.set("transcripts/0198c5a2-7c2d-7a90-a1b2-c3d4e5f60718", name);
  const { json: submitted } = await send("SubmitAlignmentJob", example);
  assert.deepEqual(shapeOf(submitted), shapeOf(example.answer));
  real.set(exampleIn("SubmitAlignmentJob", "name"), submitted.name);
  await calls.ended(submitted.name);
  const [, latest] = unaryExamples("GetAlignmentJob");
  for (const each of unaryExamples("GetAlignmentJob")) {
    const { json } = await send("GetAlignmentJob", each);
    assert.deepEqual(shapeOf(json), shapeOf(latest?.answer));
  }
  await sendAll("ListAlignmentJobs");
  const message = await firstLineOf("WatchAlignmentJobs");
  assert.deepEqual(shapeOf(message), shapeOf(unaryExamples("WatchAlignmentJobs")[1]?.answer));
  real.set(exampleIn("SubmitAlignmentJob", "name"), await calls.begin(await calls.create(slow)));
  await sendAll("CancelAlignmentJob");
});

/** Sends the first example of a stream that does not end, and returns its first message. */
async function firstLineOf(name: string): Promise<unknown> {
  const method = methodNamed(name);
  const parsed: unknown = JSON.parse(await firstLineIn(await answerTo(name, first(name))));
  const { content } = responseOf(operationOf(method).operation, 200) ?? {};
  assert.equal(check(content?.["application/x-ndjson"]?.schema ?? {}, parsed), "", name);
  return parsed;
}

test("examples of speech get the documented responses", async () => {
  for (const api of ["hlust.speech.v2beta1", "google.cloud.speech.v1", "tiro.speech.v1alpha"]) {
    const name = `${api}.Speech.Recognize`;
    const { json } = await send(name, first(name));
    assert.ok(json.results[0].alternatives[0].transcript.length > 0);
    const known = new Set(shapeOf(first(name).answer));
    // The engine can return fewer fields of a word than the example has, but no additional fields.
    assert.deepEqual(
      shapeOf(json).filter((path) => !known.has(path)),
      [],
    );
  }
});

test("the example of a stream gets the documented responses", async () => {
  const method = methodNamed("hlust.speech.v2beta1.Speech.StreamingRecognize");
  const [example] = examplesOf(method);
  assert.ok(example && "stream" in example);
  const { path, operation } = operationOf(method);
  const stream = await openStream(service.address, { path, protocols: ["Bearer", service.key] });
  for (const message of example.stream)
    if ("send" in message) stream.send(realized(real, message.send));
  assert.equal(await stream.closed, 1000);
  assert.ok(stream.messages.length > 1);
  for (const message of stream.messages) {
    assert.equal(check(operation["x-websocket"]?.receive ?? {}, message), "");
  }
  called.add(`${method.parent.typeName}.${method.name}`);
});

test("examples of models, accounts and keys get the documented responses", async () => {
  await sendAll("ListModels", "GetAccount", "UpdateAccount");
  const { apiKey } = await sendAll("CreateApiKey");
  real.set(exampleIn("CreateApiKey", "apiKey", "name"), apiKey.name);
  const clientKey = await sendAll("CreateClientKey");
  real.set(exampleIn("CreateClientKey", "name"), clientKey.name);
  await send("ListApiKeys", first("ListApiKeys"));
  await sendAll("UpdateApiKey", "ListClientKeys", "UpdateClientKey");
  await sendAll("RotateApiKey", "DeleteApiKey", "DeleteClientKey");
});

test("examples of members get the documented responses", async () => {
  await using parts = new AsyncDisposableStack();
  const usual = service;
  parts.defer(() => void (service = usual));
  // It has mail, and no worker that would send it.
  const settings = { HLUST_ENGINE: "scripted", HLUST_ROLE: "api", ...unsentMail };
  service = parts.use(await openTestService(settings));
  const member = await sendAll("CreateMember");
  real.set(exampleIn("CreateMember", "name"), member.name);
  await sendAll("SendInvitation", "ListMembers", "UpdateMember", "CreateSignInLink");
  await sendAll("DeleteMember");
});

test("examples of sessions get the documented responses", async () => {
  await sendAll("GetCaller", "CreateStreamToken");
  await fetch(`${service.address}/console/session`, {
    method: "POST",
    headers: { ...consoleHeaders(undefined), "content-type": "application/json" },
    body: JSON.stringify({ apiKey: service.key }),
  });
  const { sessions } = await sendAll("ListSessions");
  real.set(exampleIn("ListSessions", "sessions", "0", "name"), sessions[0].name);
  await sendAll("DeleteSession");
  // The details are different for each action.
  await send("ListAuditEvents", first("ListAuditEvents"));
});

test("the example of usage gets the documented response", async () => {
  // The usage is stored within a second.
  await until(async () => {
    const { json } = await service.call("GET", "/v1/usageDays");
    return json.usageDays.length > 0;
  });
  await sendAll("ListUsageDays", "ListKeyUsage", "ListMemberUsage");
});

test("examples of webhooks get the documented responses", async () => {
  const { webhook } = await sendAll("CreateWebhook");
  real.set(exampleIn("CreateWebhook", "webhook", "name"), webhook.name);
  await sendAll("ListWebhooks", "GetWebhook", "UpdateWebhook", "RotateWebhookSecret");
  // The test message is sent right after the response to the call.
  const { name } = (await send("TestWebhook", first("TestWebhook"))).json;
  const idIn = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  real.set(idIn(exampleIn("TestWebhook", "name")), idIn(name));
  await until(async () => {
    const { json } = await service.call("GET", `/v1/${webhook.name}/deliveries`);
    return json.deliveries[0].state === "DELIVERED";
  });
  await sendAll("ListWebhookDeliveries", "RedeliverWebhookDelivery", "DeleteWebhook");
});

test("examples of operators and of the vocabulary get the documented responses", async () => {
  const { nodes } = await sendAll("ListCatalogueModels", "ListNodes");
  real.set(exampleIn("ListNodes", "nodes", "0", "name"), nodes[0].name);
  // A task that its node has begun is not cancelled at once, so the node is kept from it.
  await using _busy = await openBusyModelsFolder(service, nodes[0].modelsFolder);
  real.set(exampleIn("CreateModelTask", "name"), (await sendAll("CreateModelTask")).name);
  const { accounts } = await sendAll("CancelModelTask", "ListModelTasks", "ListManagedAccounts");
  real.set(exampleIn("ListManagedAccounts", "accounts", "0", "name"), accounts[0].name);
  // The failures are those that the other examples caused.
  await send("GetQueues", first("GetQueues"));
  const { name } = await sendAll("UpdateManagedAccount", "CreateVocabularyPhrase");
  real.set(exampleIn("CreateVocabularyPhrase", "name"), name);
  await sendAll("ListVocabularyPhrases", "ImportVocabularyPhrases", "UpdateVocabularyPhrase");
  await sendAll("DeleteVocabularyPhrase");
});

test("every example is used", () => {
  const served = transcoder.bindings.map(({ method: of }) => `${of.parent.typeName}.${of.name}`);
  assert.deepEqual([...called].toSorted(), [...new Set(served)].toSorted());
});
