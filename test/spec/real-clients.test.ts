// What real clients of other services send, although the specification does not mention it.
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ListTranscriptsRequestSchema,
  ListTranscriptsResponseSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";
import { speak } from "../fixtures/flite.ts";
import { finalsOf, openStream } from "./stream.ts";
import { draftOf } from "./transcripts.ts";

const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
let service: TestService;
let speech: Buffer;

before(async () => {
  service = await openTestService();
  speech = pcmOf(speak("thank you very much for your letter"));
  await service.call("POST", "/v1alpha1/transcripts", draftOf("Ávarp"));
});
after(() => service[Symbol.asyncDispose]());

const withToken = () => ({ authorization: `Bearer ${service.key}` });
const listPath = "/hlust.transcripts.v1alpha1.Transcripts/ListTranscripts";

/** The five bytes before a message (gRPC over HTTP2, Length-Prefixed-Message). */
function framed(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const listRequest = toBinary(
  ListTranscriptsRequestSchema,
  create(ListTranscriptsRequestSchema, { pageSize: 1 }),
);

for (const type of ["application/grpc-web-text", "application/grpc-web-text+proto"]) {
  test(`gRPC-Web in text mode is answered in text mode (${type})`, async () => {
    const response = await fetch(service.address + listPath, {
      method: "POST",
      headers: { ...withToken(), "content-type": type, "x-grpc-web": "1" },
      // Two encoded parts, each with padding of its own.
      body:
        framed(listRequest).subarray(0, 4).toString("base64") +
        framed(listRequest).subarray(4).toString("base64"),
    });
    assert.equal(response.headers.get("content-type"), type);
    const parts = (await response.text()).match(/[^=]+=*/g) ?? [];
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
    const length = bytes.readUInt32BE(1);
    const { transcripts } = fromBinary(
      ListTranscriptsResponseSchema,
      bytes.subarray(5, 5 + length),
    );
    assert.equal(transcripts.length, 1);
    assert.match(bytes.subarray(5 + length).toString("latin1"), /grpc-status: 0/);
  });
}

test("gRPC-Web in text mode refuses a body that is not base64", async () => {
  for (const body of ["AAAA*", "AAA", "=AAA", "AAAA=AAA"]) {
    const response = await fetch(service.address + listPath, {
      method: "POST",
      headers: { ...withToken(), "content-type": "application/grpc-web-text" },
      body,
    });
    const text = Buffer.from(await response.text(), "base64").toString();
    assert.match(text + String(response.headers.get("grpc-status")), /grpc-status: 3|^3$/, body);
  }
});

test("gRPC messages may be compressed with deflate, and are answered with it", async () => {
  const session = connect(service.address);
  const stream = session.request({
    ":method": "POST",
    ":path": listPath,
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-encoding": "deflate",
    "grpc-accept-encoding": "deflate",
    ...withToken(),
  });
  let trailers: Record<string, unknown> = {};
  stream.on("trailers", (sent: Record<string, unknown>) => (trailers = sent));
  stream.end(framed(deflateSync(listRequest), 1));
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  session.close();
  assert.equal(trailers["grpc-status"], "0", String(trailers["grpc-message"]));
  const answer = Buffer.concat(chunks);
  const body = answer.subarray(5);
  const plain = answer[0] === 1 ? inflateSync(body) : body;
  assert.equal(fromBinary(ListTranscriptsResponseSchema, plain).transcripts.length, 1);
});

test("a body is read as JSON whatever its Content-Type is", async () => {
  const types = ["text/plain;charset=UTF-8", "text/json", "application/octet-stream", "x"];
  for (const type of types) {
    const response = await fetch(`${service.address}/v1alpha1/transcripts`, {
      method: "POST",
      headers: { ...withToken(), "content-type": type },
      body: JSON.stringify(draftOf(`Tegund ${type}`)),
    });
    assert.equal(response.status, 200, type);
  }
});

test("Google's REST clients may put the key in `key`, and send fields that only Google has", async () => {
  const onlyGoogle = {
    model: "latest_long",
    useEnhanced: true,
    profanityFilter: true,
    audioChannelCount: 1,
    enableWordConfidence: true,
    diarizationConfig: { enableSpeakerDiarization: true },
    metadata: { interactionType: "DICTATION" },
    alternativeLanguageCodes: ["fr-FR"],
    adaptation: { phraseSets: [] },
  };
  const body = {
    config: { ...config, ...onlyGoogle },
    audio: { content: speech.toString("base64") },
  };
  for (const path of ["/v1/speech:recognize", "/v1alpha/speech:recognize"]) {
    const response = await fetch(`${service.address}${path}?key=${service.key}&alt=json`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.match(text, /letter/);
    const wrong = await fetch(`${service.address}${path}?key=hlust_x_y`, {
      method: "POST",
      body: "{}",
    });
    assert.equal(wrong.status, 401);
  }
  const other = await fetch(`${service.address}/v1alpha1/transcripts?key=${service.key}`);
  assert.equal(other.status, 401, "the key is in the query only where Google's clients put it");
  const unknown = await service.call("POST", "/v2beta1/speech:recognize", { unknown: 1 });
  assert.match(unknown.json.message, /has no such field/);
});

test("JSON in binary messages of a socket is read like text", async () => {
  const stream = await openStream(service.address, { token: service.key });
  stream.sendRaw(Buffer.from(JSON.stringify({ streamingConfig: { config } })), true);
  for (const audio of [speech.toString("base64"), ""]) {
    stream.sendRaw(Buffer.from(JSON.stringify({ audioContent: audio })), true);
  }
  assert.equal(await stream.closed, 1000);
  const texts = finalsOf(stream.messages).map(({ transcript }) => transcript);
  assert.match(texts.join(""), /letter/);
});

test("the colon of a verb may be escaped", async () => {
  const name = (await service.call("POST", "/v1alpha1/transcripts", draftOf("Escape"))).json.name;
  const exported = await fetch(`${service.address}/v1alpha1/${name}%3Aexport?format=TEXT`, {
    headers: withToken(),
  });
  assert.equal(await exported.text(), "góðan dag\n\nog velkomin\n");
  const body = { config, audio: { content: speech.toString("base64") } };
  assert.equal((await service.call("POST", "/v2beta1/speech%3arecognize", body)).status, 200);
  const foreign = await service.call("GET", `/v1alpha1/${name}%3Anothing`);
  assert.equal(foreign.status, 404);
});

test("HEAD of every GET has the status and the headers of the GET, and no body", async () => {
  const name = (await service.call("POST", "/v1alpha1/transcripts", draftOf("Head"))).json.name;
  const paths = [
    `/v1alpha1/${name}`,
    "/v1alpha1/transcripts",
    "/v1alpha1/transcriptjob",
    `/v1alpha1/${name}:export?format=SRT`,
    `/v1alpha1/${name}/versions`,
    "/v1/account",
    "/v2beta1/models",
    "/v1alpha1/transcripts/unknown",
  ];
  for (const path of paths) {
    const [get, head] = await Promise.all(
      ["GET", "HEAD"].map((method) =>
        fetch(service.address + path, { method, headers: withToken() }),
      ),
    );
    assert.ok(get && head);
    assert.equal(head.status, get.status, path);
    assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), path);
    assert.equal(await head.text(), "", path);
    assert.equal((await headOverHttp2(path)).status, get.status, path);
    await get.body?.cancel();
  }
  const unknown = await fetch(service.address + "/nowhere", { method: "HEAD" });
  assert.equal(unknown.status, 404);
});

async function headOverHttp2(path: string): Promise<{ status: unknown }> {
  const session = connect(service.address);
  const stream = session.request({ ":method": "HEAD", ":path": path, ...withToken() });
  const [headers]: Record<string, unknown>[] = await once(stream, "response");
  stream.resume();
  await once(stream, "close");
  session.close();
  return { status: headers?.[":status"] };
}

test("language codes have any letter case", async () => {
  const audio = { content: speech.toString("base64") };
  for (const languageCode of ["en-us", "EN-US", "En-Us"]) {
    const { status } = await service.call("POST", "/v2beta1/speech:recognize", {
      config: { ...config, languageCode },
      audio,
    });
    assert.equal(status, 200, languageCode);
    const job = await service.call("POST", "/v1alpha1/transcriptjob:submit", {
      metadata: { languageCode, fileType: "AUDIO" },
      useUri: true,
      uri: "http://127.0.0.1:9/x.wav",
    });
    assert.equal(job.status, 200, job.json.message);
  }
});

test("a media PUT refuses what contains the media in another form", async () => {
  const form = new FormData();
  form.set("file", new Blob(["RIFF"]), "a.wav");
  const rows: [init: RequestInit, message: RegExp][] = [
    [{ body: form }, /multipart body is not accepted/],
    [{ body: "x", headers: { "content-type": "Multipart/mixed; boundary=a" } }, /multipart/],
    [{ body: "x", headers: { "content-encoding": "gzip" } }, /Content-Encoding .*gzip/],
  ];
  for (const [init, message] of rows) {
    const { json } = await service.call("POST", "/v1alpha1/initupload", {});
    const refused = await fetch(json.storageSignedUrl, { method: "PUT", ...init });
    assert.equal(refused.status, 415);
    assert.match(await refused.text(), message);
    const again = await fetch(json.storageSignedUrl, { method: "PUT", body: "RIFF" });
    assert.equal(again.status, 200, "the URL accepts the media itself");
  }
});
