// Limits on the cost of one request, on every protocol: expensive requests are refused while they
// are read, and do not block the thread that carries live audio.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fromJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import {
  CreateTranscriptRequestSchema,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { envelope, held, heldMsMax, postRpc } from "./post-rpc.ts";
import { openTestService, type TestService } from "./service.ts";

const transcripts = "hlust.transcripts.v1alpha1.Transcripts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  // The first call of each kind loads the code that it needs.
  await service.call("POST", "/v1alpha1/transcripts", { segments: [] });
});
after(() => service[Symbol.asyncDispose]());

/** Sends a POST of the test's service. */
const post = async (path: string, headers: Record<string, string>, body: Uint8Array) =>
  await postRpc(service, path, headers, body);

/** Returns the start of a CreateTranscriptRequest whose field 1 has this many bytes. */
function transcriptField(bytes: number): Buffer {
  const head = [0x0a];
  let rest = bytes;
  for (; rest > 127; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
  return Buffer.from([...head, rest]);
}

const many = 4_000_000;
const emptySegments = Buffer.from(`{"transcript":{"segments":[${"{},".repeat(many)}{}]}}`);
const keywords = Buffer.from(
  `{"transcript":{"metadata":{"keywords":[${'"",'.repeat(many)}""]},"segments":[]}}`,
);
/** Six million empty segments (Transcript.segments is field 3). */
const binarySegments = (() => {
  const list = Buffer.alloc(12_000_000);
  for (let at = 0; at < list.length; at += 2) list[at] = 0x1a;
  return Buffer.concat([transcriptField(list.length), list]);
})();
/** Unknown fields, in a message whose length is allowed. */
const unknownFields = Buffer.alloc(1_000_000, Buffer.from([0x78, 0x01]));

const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const create = `/${transcripts}/CreateTranscript`;
const submit = `/${transcripts}/SubmitTranscriptJob`;

const tooManySegments = /has more than (20000 segments|500000 objects and lists)/;
const tooManyValues = /has more than 10000 values/;
const tooLarge = /larger than \d+ bytes/;

/** Complete messages over Connect, with the expected response. */
const connectRows: [string, string, Record<string, string>, () => Uint8Array, RegExp][] = [
  [
    "segments in gzip",
    create,
    { "content-encoding": "gzip" },
    () => gzipSync(emptySegments),
    tooManySegments,
  ],
  [
    "segments in br",
    create,
    { "content-encoding": "br" },
    () => brotliCompressSync(emptySegments, quick),
    tooManySegments,
  ],
  [
    "keywords in gzip",
    create,
    { "content-encoding": "gzip" },
    () => gzipSync(keywords),
    tooManyValues,
  ],
  [
    "values of 1 MB",
    submit,
    {},
    () => Buffer.from(`{"keywords":[${'"",'.repeat(300_000)}""]}`),
    tooManyValues,
  ],
  [
    "a message over the limit of the method",
    submit,
    {},
    () => Buffer.alloc(1_100_000, " "),
    tooLarge,
  ],
  [
    "a message over the limit of the method, in gzip",
    submit,
    { "content-encoding": "gzip" },
    () => gzipSync(Buffer.alloc(40_000_000)),
    tooLarge,
  ],
  [
    "binary segments in gzip",
    create,
    { "content-encoding": "gzip", "content-type": "application/proto" },
    () => gzipSync(binarySegments),
    tooManySegments,
  ],
  [
    "a number of 1 MB",
    submit,
    {},
    () => Buffer.from(`{"useUri":${"1".repeat(1_000_000)}}`),
    tooManyValues,
  ],
  [
    "a mask of 1 MB",
    `/${transcripts}/UpdateTranscript`,
    {},
    () => Buffer.from(`{"transcript":{},"updateMask":"${"a,".repeat(500_000)}"}`),
    /updateMask: expected at most 16384 characters/,
  ],
  [
    "lists in lists",
    submit,
    {},
    () => Buffer.from(`{"x":${"[".repeat(500_000)}`),
    /nests deeper than 64 levels/,
  ],
  [
    "unknown fields",
    submit,
    { "content-type": "application/proto" },
    () => unknownFields,
    tooManyValues,
  ],
];

for (const [name, path, headers, body, message] of connectRows) {
  test(`Connect refuses ${name} without blocking other calls`, async () => {
    const sent = body();
    const { answer, heldMs } = await held(() =>
      post(path, { "content-type": "application/json", ...headers }, sent),
    );
    assert.equal(answer.status, 400, answer.text.slice(0, 300));
    assert.match(answer.text, message);
    assert.ok(heldMs < heldMsMax, `the thread was held for ${heldMs} ms`);
  });
}

/** Messages in the envelopes of gRPC and gRPC-Web. */
const envelopeRows: [string, string, string, Record<string, string>, () => Uint8Array, RegExp][] = [
  [
    "segments in gzip",
    create,
    "application/grpc+json",
    { "grpc-encoding": "gzip" },
    () => envelope(gzipSync(emptySegments), 1),
    tooManySegments,
  ],
  [
    "binary segments",
    create,
    "application/grpc",
    {},
    () => envelope(binarySegments),
    tooManySegments,
  ],
  [
    "binary segments in gzip",
    create,
    "application/grpc-web+proto",
    { "grpc-encoding": "gzip" },
    () => envelope(gzipSync(binarySegments), 1),
    tooManySegments,
  ],
  [
    "keywords in gzip",
    create,
    "application/grpc-web+json",
    { "grpc-encoding": "gzip" },
    () => envelope(gzipSync(keywords), 1),
    tooManyValues,
  ],
  [
    "unknown fields",
    submit,
    "application/grpc+proto",
    {},
    () => envelope(unknownFields),
    tooManyValues,
  ],
  [
    "a message over the limit of the method",
    submit,
    "application/grpc+proto",
    {},
    () => envelope(Buffer.alloc(1_100_000)),
    tooLarge,
  ],
  [
    "a long audio message of a stream",
    "/hlust.speech.v2beta1.Speech/StreamingRecognize",
    "application/grpc+proto",
    { "grpc-encoding": "gzip" },
    () => envelope(gzipSync(Buffer.alloc(30_000_000)), 1),
    tooLarge,
  ],
];

for (const [name, path, contentType, headers, body, message] of envelopeRows) {
  test(`${contentType} refuses ${name} without blocking other calls`, async () => {
    const sent = body();
    const { answer, heldMs } = await held(() =>
      post(path, { "content-type": contentType, te: "trailers", ...headers }, sent),
    );
    const shown = decodeURIComponent(`${answer.headers["grpc-message"] ?? ""} ${answer.text}`);
    assert.match(shown, message);
    assert.ok(heldMs < heldMsMax, `the thread was held for ${heldMs} ms`);
  });
}

test("REST refuses the same bodies without blocking other calls", async () => {
  const rest = (list: string, tail: string) => Buffer.from(`{"segments":[${list}]${tail}}`);
  const rows: [string, Buffer, RegExp][] = [
    ["segments last", rest(`${"{},".repeat(many)}{}`, ""), tooManySegments],
    ["segments first", rest(`${"{},".repeat(many)}{}`, ',"metadata":{}'), tooManySegments],
    [
      "words",
      rest(`{"words":[${"{},".repeat(many)}{}]}`, ""),
      /has more than 500000 objects and lists/,
    ],
    [
      "values",
      Buffer.from(`{"metadata":{"keywords":[${'"",'.repeat(300_000)}""]}}`),
      tooManyValues,
    ],
  ];
  for (const [name, sent, message] of rows) {
    const headers = { "content-type": "application/json" };
    const { answer, heldMs } = await held(() => post("/v1alpha1/transcripts", headers, sent));
    assert.equal(answer.status, 400, name);
    assert.match(answer.text, message, name);
    assert.ok(heldMs < heldMsMax, `${name}: the thread was held for ${heldMs} ms`);
  }
});

test("a long transcript is the same over every protocol", async () => {
  const segments = longSegments(3_000);
  const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject: "long" };
  const message = fromJson(CreateTranscriptRequestSchema, { transcript: { metadata, segments } });
  const rest = await service.call("POST", "/v1alpha1/transcripts", { metadata, segments });
  assert.equal(rest.status, 200);
  const options = { baseUrl: service.address, sendCompression: compressionGzip };
  const headers = { authorization: `Bearer ${service.key}` };
  const names = [rest.json.name];
  for (const transport of [
    createGrpcTransport({ ...options }),
    createGrpcTransport({ ...options, useBinaryFormat: false }),
    createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
    createConnectTransport({ ...options, httpVersion: "1.1" }),
    createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: true }),
    createConnectTransport({ baseUrl: service.address, httpVersion: "1.1" }),
  ]) {
    const client = createClient(Transcripts, transport);
    names.push((await client.createTranscript(message, { headers })).name);
    // A message with a few segments, which are then replaced by the long list.
    const short = fromJson(CreateTranscriptRequestSchema, {
      transcript: { metadata, segments: segments.slice(0, 2) },
    });
    const { name } = await client.createTranscript(short, { headers });
    const transcript = { name, segments: message.transcript?.segments ?? [] };
    await client.updateTranscript({ transcript }, { headers });
    names.push(name);
  }
  const [first, ...others] = await Promise.all(
    names.map(async (name) => (await service.call("GET", `/v1alpha1/${name}`)).json),
  );
  assert.equal(first.segments.length, 150);
  for (const { segments, metadata } of others) {
    assert.deepEqual(segments, first.segments);
    assert.equal(metadata.subject, "long");
  }
});

test("gRPC reports violations in long segments as REST does", async () => {
  const segments = [...longSegments(3_000), { startTime: "1s", endTime: "0s" }];
  const request = fromJson(CreateTranscriptRequestSchema, { transcript: { segments } });
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  await assert.rejects(client.createTranscript(request, { headers }), (error) => {
    assert.ok(error instanceof ConnectError && error.code === Code.InvalidArgument);
    assert.match(
      error.rawMessage,
      /metadata\.fileType: .*segments\[150\]\.endTime: is before its startTime/,
    );
    return true;
  });
});

test("Connect in JSON accepts a minute of audio, as REST does", async () => {
  const content = Buffer.alloc(2_900_000, 7).toString("base64");
  const config = { languageCode: "is-IS", encoding: "LINEAR16", sampleRateHertz: 48_000 };
  const headers = { "content-type": "application/json" };
  const body = Buffer.from(JSON.stringify({ config, audio: { content } }));
  const [connect, rest] = [
    await post("/hlust.speech.v2beta1.Speech/Recognize", headers, body),
    await post("/v2beta1/speech:recognize", headers, body),
  ];
  assert.equal(JSON.parse(connect.text).message, JSON.parse(rest.text).message);
  assert.equal(connect.status, rest.status);
});
