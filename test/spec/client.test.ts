// The TypeScript client with a whole service.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  create,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { withResult } from "../fixtures/job-result.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { createHlustClient, type HlustClient } from "../../src/client/hlust-client.ts";
import { createRestTransport } from "../../src/client/rest-transport.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  Speech,
  type RecognitionConfigSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  TranscriptJob_State as State,
  TranscriptMetadata_FileType as FileType,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { durationFromMs, msOfDuration } from "../../src/std/duration.ts";
import { bindingsOf, type ConfiguredRule } from "../../src/transcoding/http-rules.ts";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";

const sentence = "the weather is cold and dark today";
const config: MessageInitShape<typeof RecognitionConfigSchema> = {
  encoding: Encoding.LINEAR16,
  sampleRateHertz: 16_000,
  languageCode: "en-US",
  enableWordTimeOffsets: true,
};
let service: TestService;
let client: HlustClient;
let wav: Buffer;

before(async () => {
  service = await openTestService();
  client = createHlustClient({ url: service.address, token: service.key });
  wav = speak(sentence);
});
after(() => service[Symbol.asyncDispose]());

async function* chunksOf(bytes: Uint8Array, size = 1600): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

test("every unary method of the client calls its RPC", async () => {
  const reached: string[] = [];
  const transport = createRestTransport({ url: service.address, token: service.key });
  const unary = [Transcripts, Speech, Vocabulary, Accounts, Webhooks, Operator]
    .flatMap(({ methods }) => methods)
    .filter(isUnary);
  for (const method of unary) {
    const binding = bindingsOf([method.parent]).find((one) => one.method === method);
    assert.ok(binding);
    const id = "0190a0a0-0000-7000-8000-000000000000";
    const message = reflect(method.input, create(method.input));
    for (const [index, fields] of binding.variables.entries()) {
      const { start = 0, end } = binding.path.variables[index] ?? {};
      const value = binding.path.segments
        .slice(start, end)
        .map((one) => (one.kind === "literal" ? one.text : id))
        .join("/");
      let holder = message;
      for (const field of fields) {
        if (field.fieldKind === "message") {
          holder.set(field, holder.get(field));
          holder = holder.get(field);
        } else holder.set(field, value);
      }
    }
    const call = transport.unary(method, undefined, undefined, undefined, message.message);
    const code = await call.then(
      () => undefined,
      (error: unknown) => {
        assert.ok(error instanceof ConnectError);
        const [info] = error.findDetails(ErrorInfoSchema);
        assert.ok(info, `${method.name}: ${error.message}`);
        assert.doesNotMatch(info.reason, /ROUTE_NOT_FOUND|METHOD_NOT_ALLOWED|MALFORMED/);
        return error.code;
      },
    );
    const expected = [undefined, Code.InvalidArgument, Code.NotFound];
    assert.ok(expected.includes(code), `${method.name}: ${code}`);
    reached.push(method.name);
  }
  assert.ok(reached.length >= 15, reached.join());
});

test("a transcript is created, read, changed, listed, restored and deleted", async () => {
  const { transcripts } = client;
  const words = [
    { startTime: durationFromMs(0), endTime: durationFromMs(500), word: "góðan " },
    { startTime: durationFromMs(500), endTime: durationFromMs(1250), word: "dag 𝒜" },
  ];
  const segments = [{ startTime: durationFromMs(0), endTime: durationFromMs(1250), words }];
  const metadata = {
    fileType: FileType.AUDIO,
    languageCode: "is-IS",
    subject: "Ávarp & «fleira» + 100%",
    keywords: ["ræða"],
    additionalMetadata: { __proto__x: "1", "a b": "ö" },
  };
  const { name } = await transcripts.createTranscript({ transcript: { metadata, segments } });
  const made = await transcripts.getTranscript({ name });
  assert.equal(made.metadata?.subject, metadata.subject);
  assert.deepEqual(made.metadata.additionalMetadata, metadata.additionalMetadata);
  assert.equal(made.metadata.recordingDuration, undefined);
  assert.equal(made.segments[0]?.words[1]?.word, "dag 𝒜");
  assert.equal(msOfDuration(made.segments[0].words[1].endTime ?? durationFromMs(0)), 1250);

  const changed = await transcripts.updateTranscript(
    { transcript: { name, metadata: { subject: "Annað" } } },
    { headers: { "if-match": made.version?.name ?? "" } },
  );
  assert.equal(changed.metadata?.subject, "Annað");
  assert.deepEqual(changed.metadata.keywords, ["ræða"]);
  assert.equal(changed.segments.length, 1);
  const emptied = await transcripts.updateTranscript({
    transcript: { name, segments: [] },
    updateMask: { paths: ["segments"] },
  });
  assert.deepEqual(emptied.segments, []);
  const stale = transcripts.updateTranscript(
    { transcript: { name, metadata: { subject: "x" } } },
    { headers: { "if-match": made.version?.name ?? "" } },
  );
  assert.equal((await connectFailure(stale)).code, Code.Aborted);

  const { version: current } = await transcripts.modifySegments(
    { name, changes: [{ startIndex: 0, endIndex: 0, segments }], note: "orð" },
    { headers: { "if-match": emptied.version?.name ?? "" } },
  );
  assert.deepEqual([current?.parent, current?.note], [emptied.version?.name, "orð"]);
  assert.equal((await transcripts.getTranscript({ name })).segments.length, 1);

  const filter = 'metadata.subject CONTAINS "ANNAÐ"';
  const list = await transcripts.listTranscripts({ filter, pageSize: 10 });
  assert.deepEqual(
    list.transcripts.map(({ name }) => name),
    [name],
  );
  const { versions } = await transcripts.listTranscriptVersions({ parent: name });
  assert.equal(versions.length, 4);
  const version = made.version?.name ?? "";
  const old = await transcripts.getTranscriptVersion({ name: `${name}/versions/${version}` });
  assert.equal(old.metadata?.subject, metadata.subject);
  const restored = await transcripts.restoreTranscript({ name, version });
  assert.equal(restored.segments.length, 1);
  await transcripts.deleteTranscript({ name });
  assert.equal((await connectFailure(transcripts.getTranscript({ name }))).code, Code.NotFound);
});

test("media is uploaded, transcribed and downloaded", async () => {
  const uri = await client.uploadMedia(new Blob([Uint8Array.from(wav)]));
  const metadata = { fileType: FileType.AUDIO, languageCode: "en-US", subject: "Meeting" };
  const job = await client.transcripts.submitTranscriptJob(
    { metadata, useUri: false, uri },
    { headers: { "idempotency-key": "client-test" } },
  );
  assert.equal(job.state, State.SUBMITTED);
  const { name } = job;
  let done = job;
  await until(async () => {
    done = await client.transcripts.getTranscriptJob({ name });
    return done.state !== State.PROCESSING;
  });
  assert.equal(done.state, State.SUCCESS);
  assert.equal(done.progressPercent, 100);
  const transcript = await client.transcripts.getTranscript({
    name: withResult(done).transcript ?? "",
  });
  const text = transcript.segments.flatMap(({ words }) => words.map(({ word }) => word)).join("");
  assert.equal(text.trim(), sentence);
  const media = await fetch(transcript.uri);
  assert.deepEqual(Buffer.from(await media.arrayBuffer()), wav);
});

test("a refused upload is reported with its reason", async () => {
  const missing = "transcripts/0190a0a0-0000-7000-8000-000000000000";
  const error = await connectFailure(
    client.uploadMedia(new Uint8Array(4), { resourceName: missing }),
  );
  assert.equal(error.code, Code.NotFound);
});

test("failures are ConnectErrors with every field violation", async () => {
  const bad = { ...config, sampleRateHertz: 7, languageCode: "xx" };
  const audio = { audioSource: { case: "content", value: new Uint8Array(2) } } as const;
  const unary = await connectFailure(client.speech.recognize({ config: bad, audio }));
  const live = await connectFailure(
    Array.fromAsync(client.recognizeLive({ config: bad }, chunksOf(pcmOf(wav)))),
  );
  for (const [error, prefix] of [
    [unary, ""],
    [live, "streamingConfig."],
  ] as const) {
    assert.equal(error.code, Code.InvalidArgument);
    const [details] = error.findDetails(BadRequestSchema);
    const fields = details?.fieldViolations.map(({ field }) => field);
    const expected = ["config.sampleRateHertz", "config.languageCode"].map((one) => prefix + one);
    assert.deepEqual(fields?.toSorted(), expected.toSorted());
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.domain, "hlust");
  }
  assert.equal(unary.metadata.get("content-type"), "application/json");

  // The client refuses this call before it is sent.
  const nameless = await connectFailure(
    client.transcripts.getTranscript({ name: "transcripts/.." }),
  );
  assert.equal(nameless.code, Code.InvalidArgument);
  assert.equal(nameless.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field, "name");
});

test("a wrong token is Unauthenticated and a missing scope PermissionDenied, for calls and streams", async () => {
  const { secret } = await client.accounts.createApiKey({
    displayName: "reads",
    scopes: ["transcripts.read"],
  });
  for (const [token, code] of [
    ["wrong", Code.Unauthenticated],
    [undefined, Code.Unauthenticated],
    ["not a protocol name", Code.Unauthenticated],
    [secret, Code.PermissionDenied],
  ] as const) {
    const other = createHlustClient({ url: service.address, token });
    const audio = { audioSource: { case: "content", value: new Uint8Array(2) } } as const;
    assert.equal((await connectFailure(other.speech.recognize({ config, audio }))).code, code);
    const live = other.recognizeLive({ config }, chunksOf(pcmOf(wav)));
    assert.equal((await connectFailure(Array.fromAsync(live))).code, code, token);
  }
  const late = createHlustClient({
    url: service.address,
    token: async () => await Promise.resolve(secret),
  });
  assert.ok(await late.transcripts.listTranscripts({}));
});

test("a client with the service's HTTP rules uses them", async () => {
  const rules: ConfiguredRule[] = [
    { selector: `${Transcripts.typeName}.ListTranscripts`, get: "/everything" },
    {
      selector: `${Speech.typeName}.StreamingRecognize`,
      custom: { kind: "WEBSOCKET", path: "/live" },
      body: "*",
    },
  ];
  const folder = mkdtempSync(join(tmpdir(), "hlust-rules-"));
  try {
    const file = join(folder, "rules.json");
    writeFileSync(file, JSON.stringify({ http: { rules } }));
    await using ruled = await openTestService({
      HLUST_HTTP_RULES: file,
      HLUST_ENGINE: "scripted",
    });
    const options = { url: ruled.address, token: ruled.key };
    const knowing = createHlustClient({ ...options, rules });
    assert.deepEqual((await knowing.transcripts.listTranscripts({})).transcripts, []);
    await Array.fromAsync(knowing.recognizeLive({ config }, chunksOf(new Uint8Array(3200))));
    const other = createHlustClient(options);
    const list = await connectFailure(other.transcripts.listTranscripts({}));
    assert.equal(list.findDetails(ErrorInfoSchema)[0]?.reason, "METHOD_NOT_ALLOWED");
    const live = other.recognizeLive({ config }, chunksOf(new Uint8Array(3200)));
    assert.equal((await connectFailure(Array.fromAsync(live))).code, Code.NotFound);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
