// Extension of §4: signed URLs of exported files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  ExportFormat,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { signedUrlMs } from "../../src/media/signed-url.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

let service: TestService;
let name: string;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  name = (await service.call("POST", "/v1alpha1/transcripts", draftOf("Ávarp"))).json.name;
});
after(() => service[Symbol.asyncDispose]());

const signExport = async (body: Record<string, unknown>, of = name) =>
  await service.call("POST", `/v1alpha1/${of}:signExport`, body);
const exported = async (query: string) =>
  await fetch(`${service.address}/v1alpha1/${name}:export?${query}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });

test("a signed URL answers the file of the export without a token, for an hour", async () => {
  const words = ["VTT", "VTT_PAINT_ON", "VTT_POP_ON", "SRT", "AUDACITY_LABELS", "TEXT"];
  const rows: [format: string, options?: Record<string, unknown>, query?: string][] = [
    ...[...words, "DOCX", "ODT"].map((format): [string] => [format]),
    ["DOCX", { speakers: false, title: false }, "&options.speakers=false&options.title=false"],
    ["ODT", { times: "NONE" }, "&options.times=NONE"],
    ["SRT", { lineChars: 20, lines: 1 }, "&options.lineChars=20&options.lines=1"],
    ["VTT", { speakers: false, lineChars: 100 }, "&options.speakers=false&options.lineChars=100"],
    ["TEXT", { intervalSeconds: 60 }, "&options.intervalSeconds=60"],
  ];
  const tags = new Set<string>();
  for (const [format, options, query = ""] of rows) {
    const before = Date.now();
    const { status, json } = await signExport({ format, options });
    assert.equal(status, 200, format);
    assert.deepEqual(Object.keys(json), ["uri", "expireTime"]);
    const expiresMs = Date.parse(json.expireTime);
    assert.ok(expiresMs > before + signedUrlMs - 2000 && expiresMs <= Date.now() + signedUrlMs);
    const file = await fetch(json.uri);
    const own = await exported(`format=${format}${query}`);
    assert.equal(file.status, 200);
    for (const header of ["content-type", "content-disposition", "content-length"]) {
      assert.equal(file.headers.get(header), own.headers.get(header), header);
    }
    assert.equal(file.headers.get("x-content-type-options"), "nosniff");
    assert.equal(file.headers.get("cache-control"), "private");
    assert.equal(file.headers.get("content-security-policy"), "sandbox");
    assert.deepEqual(await file.bytes(), await own.bytes());
    const head = await fetch(json.uri, { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-type"), own.headers.get("content-type"));
    assert.equal(await head.text(), "");
    const etag = file.headers.get("etag") ?? "";
    tags.add(etag);
    assert.equal(head.headers.get("etag"), etag);
    const again = await fetch(json.uri, { headers: { "if-none-match": etag } });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
  }
  assert.equal(tags.size, rows.length);
});

test("a signed URL keeps its version, and an earlier version can be signed", async () => {
  const { json: first } = await service.call("GET", `/v1alpha1/${name}`);
  const { json: current } = await signExport({ format: "TEXT" });
  const text = await (await fetch(current.uri)).text();
  await service.call("PATCH", `/v1alpha1/${name}`, { segments: [segmentOf("allt annað")] });
  assert.equal(await (await fetch(current.uri)).text(), text);
  const { json: next } = await signExport({ format: "TEXT" });
  assert.equal(await (await fetch(next.uri)).text(), "allt annað\n");
  const { json: old } = await signExport({ format: "TEXT", version: first.version.name });
  assert.equal(await (await fetch(old.uri)).text(), text);
});

test("a request that cannot be signed is refused", async () => {
  const { json: other } = await service.call("POST", "/v1alpha1/transcripts", draftOf("annað"));
  const { json: foreign } = await service.call("GET", `/v1alpha1/${other.name}`);
  const allowed =
    "VTT_PAINT_ON, VTT_POP_ON, SRT, AUDACITY_LABELS, VTT, TEXT, DOCX or ODT is expected";
  const absent = "transcripts/0198c5a2-7c2d-7a90-a1b2-c3d4e5f60718";
  const rows: [of: string, body: Record<string, unknown>, status: number, message: string][] = [
    [name, {}, 400, `format: ${allowed}`],
    [name, { format: "EXPORT_FORMAT_UNSPECIFIED" }, 400, `format: ${allowed}`],
    [name, { format: "JSON" }, 400, `format: ${allowed}, not JSON`],
    [name, { format: 9 }, 400, `format: ${allowed}, not 9`],
    [name, { format: "DOC" }, 400, "format"],
    [name, { format: "VTT", seconds: 60 }, 400, "seconds"],
    [name, { format: "VTT_PAINT_ON", options: {} }, 400, "VTT_POP_ON, not for VTT_PAINT_ON"],
    [name, { format: "VTT", options: { lines: 3 } }, 400, "options.lines: must be 0, or 1 to 2"],
    [name, { format: "ODT", options: { intervalSeconds: 4 } }, 400, "must be 0, or 5 to 3600"],
    [name, { format: "VTT", version: "x" }, 404, "there is no version"],
    [name, { format: "VTT", version: foreign.version.name }, 404, "there is no version"],
    ["transcripts/x", { format: "VTT" }, 404, "there is no transcript"],
    [absent, { format: "VTT" }, 404, "there is no transcript"],
  ];
  for (const [of, body, status, message] of rows) {
    const answer = await signExport(body, of);
    assert.equal(answer.status, status, JSON.stringify([of, body]));
    assert.ok(answer.json.message.includes(message), answer.json.message);
  }
});

test("a URL that was altered, has expired or is for another method is refused", async () => {
  const { json } = await signExport({ format: "VTT" });
  const uri: string = json.uri;
  const { json: other } = await service.call("POST", "/v1alpha1/transcripts", draftOf("annað"));
  const rows: [method: string, url: string, status: number, reason: string][] = [
    ["GET", uri.replace("/VTT?", "/SRT?"), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace("/VTT?", "/JSON?"), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace("/VTT?", "/VTT.1-0-0-0-42-1?"), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace(name.slice(12), other.name.slice(12)), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace(/expires=\d+/, "expires=1700000000"), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace(/expires=\d/, "expires=9"), 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace(/&token=.*/, ""), 403, "SIGNED_URL_INVALID"],
    ["GET", `${uri}&x=1`, 403, "SIGNED_URL_INVALID"],
    ["GET", uri.replace("/exports/", "/"), 403, "SIGNED_URL_INVALID"],
    ["PUT", uri, 403, "SIGNED_URL_INVALID"],
    ["POST", uri, 405, "METHOD_NOT_ALLOWED"],
    ["DELETE", uri, 405, "METHOD_NOT_ALLOWED"],
  ];
  for (const [method, url, status, reason] of rows) {
    const answer = await fetch(url, { method });
    assert.equal(answer.status, status, `${method} ${url}`);
    const { error } = JSON.parse(await answer.text());
    const info = error.details.find((each: Record<string, unknown>) => "reason" in each);
    assert.equal(info?.reason, reason);
  }
  assert.equal((await fetch(uri)).status, 200);
});

test("the signed URL of a deleted transcript answers 404", async () => {
  const { json: made } = await service.call("POST", "/v1alpha1/transcripts", draftOf("horfið"));
  const { json } = await signExport({ format: "VTT" }, made.name);
  assert.equal((await fetch(json.uri)).status, 200);
  await service.call("DELETE", `/v1alpha1/${made.name}`);
  for (const method of ["GET", "HEAD"]) {
    assert.equal((await fetch(json.uri, { method })).status, 404, method);
  }
});

test("long files are written word by word, and a file that would be too long is refused", async () => {
  const words = 30_000;
  const segments = longSegments(words).map((segment) => ({ ...segment, speakerId: "a" }));
  const create = async (fullName: string) => {
    const draft = { ...draftOf("langt", { speakers: { a: speaker(fullName) } }), segments };
    return (await service.call("POST", "/v1alpha1/transcripts", draft)).json.name;
  };
  const { json: signed } = await signExport({ format: "VTT_PAINT_ON" }, await create("Anna"));
  const file = await fetch(signed.uri);
  assert.equal(file.status, 200);
  assert.equal((await file.text()).match(/ --> /g)?.length, words);
  const long = await create("漢".repeat(900));
  const paths = [
    (await signExport({ format: "VTT_PAINT_ON" }, long)).json.uri,
    `${service.address}/v1alpha1/${long}:export?format=VTT_PAINT_ON`,
  ];
  for (const path of paths) {
    const answer = await fetch(path, { headers: { authorization: `Bearer ${service.key}` } });
    assert.equal(answer.status, 400);
    const { message } = JSON.parse(await answer.text());
    assert.match(message, /VTT_PAINT_ON would be longer than 67108864 bytes: VTT is shorter/);
  }
  assert.equal((await signExport({ format: "VTT" }, long)).status, 200);
});

test("an export is signed over gRPC", async () => {
  const grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  const signed = await grpc.signTranscriptExport({ name, format: ExportFormat.SRT }, { headers });
  assert.equal(await (await fetch(signed.uri)).text(), await (await exported("format=SRT")).text());
  const expires = new URL(signed.uri).searchParams.get("expires");
  assert.equal(`${signed.expireTime?.seconds}`, expires);
});
