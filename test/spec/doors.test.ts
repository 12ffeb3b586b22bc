// One port for every protocol, and one error body for every failure (docs/api.md, Errors).
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../src/gen/google/rpc/error_details_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { openTestService, type TestService } from "./service.ts";
import { finalsOf, openStream, streamingConfig, streamPath } from "./stream.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_STREAM_SECONDS_MAX: "1" });
});
after(() => service[Symbol.asyncDispose]());

/**
 * Sends raw bytes to the port, and returns all bytes that it sends until it closes the connection.
 */
async function raw(text: string): Promise<string> {
  const { port } = new URL(service.address);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write(text);
  const parts = await Array.fromAsync(socket.setEncoding("latin1"));
  return parts.join("");
}

test("paths, methods and protocols that are not served get different responses", async () => {
  const rows: [method: string, path: string, status: number, rpc: number, header?: string[]][] = [
    ["GET", "/nothing", 404, 5],
    ["GET", "/v1alpha1", 404, 5],
    ["GET", "/v1alpha/transcripts", 404, 5],
    ["POST", "/v1alpha1/transcriptjob:other", 404, 5],
    ["PUT", "/v1alpha1/transcripts", 405, 12, ["allow", "GET, POST"]],
    ["GET", "/v2beta1/speech:recognize", 405, 12, ["allow", "POST"]],
    ["OPTIONS", "/v1alpha1/initupload", 405, 12, ["allow", "POST"]],
    ["GET", streamPath, 426, 12, ["upgrade", "websocket"]],
    ["GET", "/v1alpha1/transcripts/%zz", 400, 3],
    ["GET", "/v1alpha1/transcripts?filter=%ff", 400, 3],
  ];
  for (const [method, path, status, rpc, header] of rows) {
    const { json, headers, ...answer } = await service.call(method, path);
    assert.equal(answer.status, status, `${method} ${path}`);
    assert.equal(json.error.code, status);
    assert.equal(json.code, rpc);
    assert.equal(json.message, json.error.message);
    assert.match(json.details[0]["@type"], /google\.rpc\.ErrorInfo$/);
    assert.equal(json.details[0].domain, "hlust");
    if (header) assert.equal(headers.get(header[0] ?? ""), header[1]);
  }
});

test("REST is also served over HTTP/2", async () => {
  const session = connectHttp2(service.address);
  const stream = session.request({
    ":path": "/v1alpha1/transcripts",
    authorization: `Bearer ${service.key}`,
  });
  const [headers] = await once(stream, "response");
  assert.equal(headers[":status"], 200);
  const body = await Array.fromAsync(stream.setEncoding("utf8"));
  assert.deepEqual(JSON.parse(body.join("")), { transcripts: [], nextPageToken: "" });
  session.close();
});

test("requests with a full URL, dots and double slashes are taken literally", async () => {
  const get = (target: string) =>
    raw(
      `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n\r\n`,
    );
  assert.match(await get("http://a/v1alpha1/transcripts"), /^HTTP\/1\.1 200 /);
  for (const target of [
    "/v1alpha1/../v1alpha1/transcripts",
    "//v1alpha1/transcripts",
    "/v1alpha1/./transcripts",
    "/v1alpha1%2Ftranscripts",
  ]) {
    assert.match(await get(target), /^HTTP\/1\.1 404 /, target);
  }
});

test("bytes that are not HTTP get 400 and a closed connection, and the next call works", async () => {
  const rows = [
    "hello\r\n\r\n",
    "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nX: a\nb\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  ];
  for (const row of rows) {
    const answer = await raw(row);
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, row.slice(0, 30));
    assert.match(answer, /\r\n\r\n\{"code":3,"message":"[^"]+","details":\[/, row.slice(0, 30));
  }
  assert.equal((await service.call("GET", "/healthz")).status, 200);
});

test("gRPC failures have the same details", async () => {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  const error = await client
    .recognize({}, { headers })
    .then(() => assert.fail("an empty request was answered"), ConnectError.from);
  assert.equal(error.code, Code.InvalidArgument);
  assert.equal(error.findDetails(ErrorInfoSchema)[0]?.domain, "hlust");
  const violations = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  assert.deepEqual(
    violations.map(({ field }) => field),
    ["config", "audio.content"],
  );
});

test("an upgrade to anything but a WebSocket is ignored", async () => {
  const answer = await raw(
    `GET /v1alpha1/transcripts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n` +
      "Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
  );
  assert.match(answer, /^HTTP\/1\.1 200 /);
  const broken = await raw(
    `GET ${streamPath}?token=${service.key} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  assert.match(broken, /^HTTP\/1\.1 400 [^{]+\{"code":3,/, "a handshake without Sec-WebSocket-Key");
});

test("the rest of a refused body is read for a limited time", async () => {
  const { port } = new URL(service.address);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write("POST /v1alpha1/initupload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  const drip = setInterval(() => socket.write("x"), 100);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => {
    text += part;
  });
  await once(socket, "close");
  clearInterval(drip);
  assert.match(text, /^HTTP\/1\.1 401 /);
});

/**
 * 5 ms of audio that the scripted engine recognizes as speech. It is sent every millisecond or two,
 * so that some of it arrives while the last final results are being created.
 */
const chunk = Buffer.alloc(160, 1);
const chunkMs = 1;

test("a gRPC stream at its time limit ends with UNAVAILABLE after its final results, even while its caller is sending audio", async () => {
  const spoken = new AbortController();
  async function* requests() {
    const config = { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" };
    yield { streamingRequest: { case: "streamingConfig" as const, value: { config } } };
    while (!spoken.signal.aborted) {
      yield { streamingRequest: { case: "audioContent" as const, value: chunk } };
      await sleep(chunkMs);
    }
  }
  const client = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  let finals = 0;
  const error = await (async () => {
    try {
      for await (const { results } of client.streamingRecognize(requests(), { headers })) {
        finals += results.filter(({ isFinal }) => isFinal).length;
      }
    } catch (reason) {
      return ConnectError.from(reason);
    }
    return assert.fail("the stream ended with OK");
  })();
  spoken.abort();
  assert.equal(error.code, Code.Unavailable);
  assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "STREAM_TOO_LONG");
  assert.ok(error.findDetails(RetryInfoSchema)[0]?.retryDelay);
  assert.ok(finals > 0);
});

test("a WebSocket at its time limit closes with 1013 after its final results", async () => {
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig());
  const timer = setInterval(() => stream.sendAudio(chunk), chunkMs);
  const closeCode = await stream.closed;
  clearInterval(timer);
  const said = JSON.stringify(stream.messages.at(-1)?.error);
  assert.deepEqual([closeCode, said?.includes("STREAM_TOO_LONG")], [1013, true]);
  assert.ok(finalsOf(stream.messages).length > 0);
});
