// §4.4 to §4.6 for transcripts of long recordings, whose segments are sent without being parsed.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { connect as connectHttp2 } from "node:http2";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import {
  GetTranscriptRequestSchema,
  ExportFormat,
  Transcripts,
  TranscriptSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { writeJson } from "../../src/transcoding/write-response.ts";
import { cpuMs } from "../fixtures/cpu-time.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { RawConnection } from "../fixtures/raw-http.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const sizes = [0, 1, 700, 6_000, 72_000];
const names = new Map<number, string>();
let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  for (const words of sizes) {
    const draft = { ...draftOf(`${words} words`), segments: longSegments(words) };
    const { status, json } = await service.call("POST", "/v1alpha1/transcripts", draft);
    assert.equal(status, 200);
    names.set(words, json.name);
  }
});
after(() => service[Symbol.asyncDispose]());

const pathOf = (words: number): string => `/v1alpha1/${names.get(words)}`;

/** Sends a GET over HTTP/1.1, and returns the body without decoding it. */
async function getRaw(words: number, acceptEncoding: string) {
  await using connection = await RawConnection.open(service.address);
  const head = [
    `GET ${pathOf(words)} HTTP/1.1`,
    "Host: hlust.test",
    `Authorization: Bearer ${service.key}`,
    `Accept-Encoding: ${acceptEncoding}`,
  ];
  connection.send(Buffer.from(`${head.join("\r\n")}\r\n\r\n`));
  const answer = await connection.answer();
  assert.ok(answer);
  assert.equal(answer.status, 200);
  return answer;
}

test("a caller that accepts zstd gets the stored bytes as one frame; others get the same JSON", async () => {
  for (const words of sizes) {
    const [plain, packed] = [await getRaw(words, "gzip, br"), await getRaw(words, "gzip, zstd")];
    for (const { headers } of [plain, packed]) {
      assert.equal(headers.get("vary"), "Accept-Encoding");
      assert.equal(headers.get("content-type"), "application/json");
    }
    assert.equal(plain.headers.get("content-encoding"), undefined);
    assert.equal(packed.headers.get("content-encoding"), "zstd");
    const json = plain.body.toString();
    // The responses have no signed URLs, which would differ, since there is no media.
    assert.equal(zstdDecompressSync(packed.body).toString(), json);
    const read = JSON.parse(json);
    assert.equal(Object.keys(read).join(), "name,metadata,segments,uri,version");
    const sent = longSegments(words).map((segment) => ({ ...segment, speakerId: "" }));
    assert.equal(hashOf(read.segments), hashOf(normalized(sent)));
  }
});

/** Returns segments with times in the form in which the service writes them. */
function normalized(segments: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(segments).replaceAll(/\.5s"/g, '.500s"'));
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

test("zstd is not sent to callers that do not accept it", async () => {
  for (const accept of ["zstd;q=0", "*", "identity, zstd;q=0.5", "", "zstandard"]) {
    const { headers, body } = await getRaw(700, accept);
    assert.equal(headers.get("content-encoding"), undefined, accept);
    assert.ok(body.toString().startsWith("{"), accept);
  }
});

test("both encodings work over HTTP/2", async () => {
  const session = connectHttp2(service.address);
  after(() => {
    session.close();
  });
  for (const encoding of ["zstd", "identity"]) {
    const stream = session.request({
      ":path": pathOf(72_000),
      authorization: `Bearer ${service.key}`,
      "accept-encoding": encoding,
    });
    const bytes = Buffer.concat(await Array.fromAsync(stream));
    const json = encoding === "zstd" ? zstdDecompressSync(bytes) : bytes;
    assert.equal(JSON.parse(json.toString()).segments.length, 3_600);
  }
});

const at = () => ({ baseUrl: service.address, httpVersion: "2" }) as const;
const json = { useBinaryFormat: false };
const transports: Record<string, () => Transport> = {
  grpc: () => createGrpcTransport(at()),
  "grpc json": () => createGrpcTransport({ ...at(), ...json }),
  "grpc-web": () => createGrpcWebTransport(at()),
  "grpc-web json": () => createGrpcWebTransport({ ...at(), ...json }),
  connect: () => createConnectTransport(at()),
  "connect, not compressed": () => createConnectTransport({ ...at(), acceptCompression: [] }),
  "connect json": () => createConnectTransport({ ...at(), ...json }),
  "connect json, not compressed": () =>
    createConnectTransport({ ...at(), ...json, acceptCompression: [] }),
};

test("RPC returns the same segments in every protocol", async () => {
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  for (const [protocol, transport] of Object.entries(transports)) {
    const client = createClient(Transcripts, transport());
    for (const words of [0, 700, 6_000]) {
      const name = names.get(words) ?? "";
      const answer = await client.getTranscript({ name }, options);
      const { json: rest } = await service.call("GET", pathOf(words));
      const written: unknown = JSON.parse(writeJson(TranscriptSchema, answer));
      assert.equal(hashOf(written), hashOf(rest), `${protocol}, ${words} words`);
    }
  }
  const client = createClient(Transcripts, createConnectTransport({ ...at(), ...json }));
  const file = { name: names.get(6_000) ?? "", format: ExportFormat.JSON };
  const { exportedTranscript } = await client.exportTranscript(file, options);
  const { data = new Uint8Array() } = exportedTranscript ?? {};
  const { body } = await getRaw(6_000, "identity");
  assert.deepEqual(JSON.parse(Buffer.from(data).toString()), JSON.parse(body.toString()));
});

/**
 * Returns the CPU time that a call takes on this thread, on which the service also runs. The client
 * does not parse the response.
 */
async function threadMs(contentType: string, acceptEncoding: string): Promise<number> {
  const before = process.threadCpuUsage();
  const response = await fetch(`${service.address}/${Transcripts.typeName}/GetTranscript`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.key}`,
      "content-type": contentType,
      "accept-encoding": acceptEncoding,
    },
    body: contentType.includes("proto")
      ? toBinary(GetTranscriptRequestSchema, create(GetTranscriptRequestSchema, { name: long() }))
      : JSON.stringify({ name: long() }),
  });
  assert.equal(response.status, 200);
  for await (const _chunk of response.body ?? []);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
const long = (): string => names.get(72_000) ?? "";

test("a long transcript over RPC takes little CPU time of the thread that serves live audio", async () => {
  const { body } = await getRaw(72_000, "identity");
  const { segments } = JSON.parse(body.toString());
  const before = process.threadCpuUsage();
  toBinary(TranscriptSchema, fromJson(TranscriptSchema, { segments }));
  const { user, system } = process.threadCpuUsage(before);
  const messagesMs = (user + system) / 1000;
  for (const contentType of ["application/proto", "application/json"]) {
    // The first call starts a worker thread, so the shorter time of two calls counts.
    const took = [await threadMs(contentType, "identity"), await threadMs(contentType, "identity")];
    const leastMs = Math.min(...took);
    assert.ok(leastMs < messagesMs / 2, `${contentType}: ${leastMs} of ${messagesMs} ms`);
  }
});

test("compressing a long transcript with brotli takes less than about twice the CPU time of gzip", async () => {
  const cpuMsOf = async (encoding: string): Promise<number> => {
    const before = cpuMs();
    await threadMs("application/proto", encoding);
    return cpuMs() - before;
  };
  const [gzip, brotli] = [await cpuMsOf("gzip"), await cpuMsOf("br")];
  assert.ok(brotli < 2 * gzip + 200, `${brotli} ms, gzip ${gzip} ms`);
});

test("an update of metadata keeps the segments; an update of segments returns them", async () => {
  const patch = { metadata: { subject: "nýtt" } };
  const renamed = await service.call("PATCH", pathOf(72_000), patch);
  assert.equal(renamed.status, 200);
  assert.equal(renamed.json.segments.length, 3_600);
  assert.equal(renamed.json.metadata.subject, "nýtt");

  const sent = longSegments(71_000);
  const changed = await service.call("PATCH", pathOf(72_000), { segments: sent });
  assert.equal(changed.status, 200);
  assert.equal(changed.json.segments.length, 3_550);
  assert.equal(changed.json.metadata.subject, "nýtt");
  assert.equal(changed.json.version.parent, renamed.json.version.name);
  const { json } = await service.call("GET", pathOf(72_000));
  assert.deepEqual(json, changed.json);
});

test("violations in long segments are reported as in short ones", async () => {
  const good = JSON.stringify(longSegments(3_000));
  const patch = async (body: string) => await service.call("PATCH", pathOf(1), body);
  const many = Array.from({ length: 1_000_000 }, (_, at) => `"${at}":""`);
  const entries = many.join(",");
  const rows: [name: string, body: string, message: RegExp][] = [
    [
      "times",
      JSON.stringify({ segments: [...longSegments(3_000), { startTime: "1s", endTime: "0s" }] }),
      /^segments\[150\]\.endTime: is before its startTime$/,
    ],
    [
      "an unknown field in a word",
      good.replace('"word"', '"wort"').replace(/^/, '{"segments":').concat("}"),
      /^segments\[0\]\.words\[0\]\.wort: Word has no such field$/,
    ],
    [
      "also an unknown field",
      `{"segments":${good},"segmants":[]}`,
      /^segmants: Transcript has no such field$/,
    ],
    [
      "a syntax error inside the segments",
      `{\n"segments":${good.slice(0, -1)},]}`,
      /^not valid JSON at line 2, column \d{6}: expected a value, found "\]}"$/,
    ],
    [
      "a syntax error after the segments",
      `{"segments":${good},}`,
      /^not valid JSON at line 1, column \d{6}: expected a name in double quotes, found "}"$/,
    ],
    [
      "the end is missing",
      `{"segments":${good}`,
      /column \d{6}: expected "," or "}", found the end$/,
    ],
    [
      "metadata and segments",
      JSON.stringify({
        metadata: { languageCode: "?" },
        segments: [{}, ...longSegments(3_000)],
      }),
      /^metadata\.languageCode: .*; segments\[0\]\.startTime: is required.*; segments\[0\]\.endTime: is required/,
    ],
    [
      "200,001 words",
      `{"segments":[{"startTime":"0s","endTime":"1s","words":[${'{"startTime":"0s","endTime":"1s"},'.repeat(200_000)}{"startTime":"0s","endTime":"1s"}]}]}`,
      /^segments: has 200001 words in total; at most 200000 are allowed$/,
    ],
    [
      "ten million words in 30 MB",
      `{"segments":[{"words":[${"{},".repeat(9_999_999)}{}]}]}`,
      /^the JSON has more than 500000 objects and lists$/,
    ],
    [
      "a million entries of metadata",
      `{"metadata":{"additionalMetadata":{${entries}}},"segments":[]}`,
      /^body: has more than 10000 values: only segments may have more/,
    ],
    [
      "segments twice, one of them long",
      `{"segments":[],"segments":${JSON.stringify(longSegments(30_000))}}`,
      /^body: has more than 10000 values: only segments may have more, if .* has it once/,
    ],
  ];
  for (const [name, body, message] of rows) {
    const { status, json } = await patch(body);
    assert.equal(status, 400, name);
    assert.match(json.message, message, name);
  }
  const fewer = many.slice(0, 100_000).join(",");
  const imported = `{"content":"","metadata":{"additionalMetadata":{${fewer}}}}`;
  const refused = await service.call("POST", "/v1alpha1/transcripts:import", imported);
  assert.deepEqual(
    [refused.status, refused.json.message],
    [400, "body: has more than 10000 values"],
  );
  const { json } = await service.call("GET", pathOf(1));
  assert.equal(json.version.parent, "", "nothing is stored");
  // If a name occurs twice, the last one counts, as in a short body.
  const short = JSON.stringify(longSegments(1_200));
  const twice = await patch(`{"segments":${short},"segments":[]}`);
  assert.deepEqual([twice.status, twice.json.segments], [200, []]);
});

test("a body of ten million words is refused before it has arrived", async () => {
  const head = (lines: string[]): Buffer =>
    Buffer.from(
      [
        `PATCH ${pathOf(1)} HTTP/1.1`,
        "Host: hlust.test",
        `Authorization: Bearer ${service.key}`,
        ...lines,
        "\r\n",
      ].join("\r\n"),
    );
  await using announced = await RawConnection.open(service.address);
  announced.send(head(["Content-Length: 700000000"]));
  assert.equal((await announced.answer())?.status, 413);

  await using chunked = await RawConnection.open(service.address);
  chunked.send(head(["Transfer-Encoding: chunked"]));
  const chunk = Buffer.concat([
    Buffer.from("100000\r\n"),
    Buffer.alloc(1 << 20, " "),
    Buffer.from("\r\n"),
  ]);
  const answer = chunked.answer();
  for (let sent = 0; sent < 700 && !chunked.isEnded; sent += 1) {
    chunked.send(chunk);
    if ((await Promise.race([answer, immediate()])) !== undefined) break;
  }
  assert.equal((await answer)?.status, 413);
});

function immediate(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(resolve, undefined));
}

test("compressed bodies are refused", async () => {
  const response = await fetch(`${service.address}${pathOf(1)}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${service.key}`, "content-encoding": "zstd" },
    body: new Uint8Array(zstdCompressSync("{}")),
  });
  assert.equal(response.status, 415);
  await response.text();
});
