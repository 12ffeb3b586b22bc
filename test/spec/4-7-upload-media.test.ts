// §4.7: obtain an upload URL for media.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { after, before, test } from "node:test";
import { speak } from "../fixtures/flite.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let service: TestService;
let name: string;
let wav: Buffer;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_UPLOAD_BYTES_MAX: "1000000" });
  wav = speak("media of a transcript");
  name = (await service.call("POST", "/v1alpha1/transcripts", draftOf("Með hljóði"))).json.name;
});
after(() => service[Symbol.asyncDispose]());

const initUpload = async (resourceName = name): Promise<string> =>
  (await service.call("POST", "/v1alpha1/initupload", { resourceName })).json.storageSignedUrl;
const uriOf = async (): Promise<string> =>
  (await service.call("GET", `/v1alpha1/${name}`)).json.uri;

test("media uploaded to the URL can be read at the transcript's uri, as a whole and in ranges", async () => {
  const url = await initUpload();
  assert.ok(url.startsWith(service.address));
  assert.equal(await uriOf(), "", "the uri is empty before the upload is complete");
  assert.equal((await fetch(url, { method: "PUT", body: wav })).status, 200);
  const uri = await uriOf();
  assert.ok(uri.startsWith(service.address));

  const whole = await fetch(uri);
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get("content-type"), "audio/wav");
  assert.equal(whole.headers.get("accept-ranges"), "bytes");
  assert.equal(whole.headers.get("x-content-type-options"), "nosniff");
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), wav);
  const etag = whole.headers.get("etag") ?? "";
  assert.match(etag, /^"[^"]+"$/);

  const size = wav.length;
  const rows: [range: string, status: number, from: number, to: number][] = [
    ["bytes=0-9", 206, 0, 10],
    ["bytes=100-", 206, 100, size],
    ["bytes=-20", 206, size - 20, size],
    [`bytes=${size - 1}-${size + 100}`, 206, size - 1, size],
    [`bytes=${size}-`, 416, 0, 0],
  ];
  for (const [range, status, from, to] of rows) {
    const part = await fetch(uri, { headers: { range } });
    assert.equal(part.status, status, range);
    const bytes = Buffer.from(await part.arrayBuffer());
    if (status !== 206) continue;
    assert.equal(part.headers.get("content-range"), `bytes ${from}-${to - 1}/${size}`);
    assert.deepEqual(bytes, wav.subarray(from, to), range);
  }
  const head = await fetch(uri, { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), `${size}`);
  assert.equal((await fetch(uri, { headers: { "if-none-match": etag } })).status, 304);
});

test("a URL accepts one PUT; a PUT to a new URL replaces the media", async () => {
  const url = await initUpload();
  assert.equal((await fetch(url, { method: "PUT", body: wav })).status, 200);
  const again = await fetch(url, { method: "PUT", body: wav });
  assert.ok(again.status === 403 || again.status === 409, `${again.status}`);
  const other = Buffer.from("not a sound at all");
  assert.equal((await fetch(await initUpload(), { method: "PUT", body: other })).status, 200);
  const media = await fetch(await uriOf());
  assert.equal(media.headers.get("content-type"), "application/octet-stream");
  assert.deepEqual(Buffer.from(await media.arrayBuffer()), other);
});

test("the transcript shows the name of the uploaded file, if initupload had it", async () => {
  const draft = draftOf("Með skrá", { dictation: undefined });
  const { name: resourceName } = (await service.call("POST", "/v1alpha1/transcripts", draft)).json;
  const shown = async () => {
    const { metadata } = (await service.call("GET", `/v1alpha1/${resourceName}`)).json;
    const { transcripts } = (await service.call("GET", "/v1alpha1/transcripts")).json;
    const listed = transcripts.find(({ name }: { name: string }) => name === resourceName);
    assert.equal(listed.metadata.originalFilename, metadata.originalFilename);
    return metadata.originalFilename;
  };
  for (const [filename, expected] of [
    ["fundur 1.wav", "fundur 1.wav"],
    ["", undefined],
    ["fundur 2.wav", "fundur 2.wav"],
  ]) {
    const { json } = await service.call("POST", "/v1alpha1/initupload", { resourceName, filename });
    const put = await fetch(json.storageSignedUrl, { method: "PUT", body: wav });
    assert.equal(put.status, 200);
    assert.equal(await shown(), expected);
  }
  const dictation = { metadata: { dictation: true } };
  await service.call("PATCH", `/v1alpha1/${resourceName}`, dictation);
  assert.equal(await shown(), undefined, "a transcript has one original source");
});

test("URLs work only for their own method, resource and time", async () => {
  const url = await initUpload();
  const uri = await uriOf();
  const rows: [url: string, method: string][] = [
    [url, "GET"],
    [uri, "PUT"],
    [url.replace(/.$/, (last) => (last === "A" ? "B" : "A")), "PUT"],
    [url.replace(/(?<=uploads\/).{4}/, "0000"), "PUT"],
    [uri.replace(/[?].*/, ""), "GET"],
    [url.replace(/\d{10}/, (seconds) => `${Number(seconds) + 3600}`), "PUT"],
  ];
  for (const [target, method] of rows) {
    const init = method === "PUT" ? { method, body: "x" } : { method };
    const answer = await fetch(target, init);
    assert.equal(answer.status, 403, `${method} ${target}`);
    assert.match(await answer.text(), /PERMISSION_DENIED/);
  }
  assert.equal(
    (await fetch(url, { method: "PUT", body: wav })).status,
    200,
    "the URL itself still works",
  );
});

test("oversized and broken uploads leave nothing behind and can be repeated", async () => {
  const before = readdirSync(service.dataFolder, { recursive: true }).filter(isMedia).length;
  const uri = await uriOf();
  const big = await fetch(await initUpload(), { method: "PUT", body: Buffer.alloc(1_000_001) });
  assert.equal(big.status, 413);

  const url = await initUpload();
  await new Promise<void>((resolve) => {
    const broken = request(url, { method: "PUT", headers: { "content-length": 500_000 } });
    broken.on("error", () => {
      resolve();
    });
    broken.write(Buffer.alloc(1000), () => broken.destroy(new Error("gone")));
  });
  assert.equal(new URL(await uriOf()).pathname, new URL(uri).pathname);
  assert.equal((await fetch(url, { method: "PUT", body: wav })).status, 200);
  const now = readdirSync(service.dataFolder, { recursive: true }).filter(isMedia).length;
  assert.equal(now, before, "the new media replaced the old, and nothing else is there");
});

function isMedia(file: string | Buffer): boolean {
  return String(file).startsWith("media/") && /[0-9a-f]{8}/.test(String(file));
}

test("every path responds to Expect: 100-continue, unless the call is refused", async () => {
  const good = await initUpload();
  const forged = good.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  const json = JSON.stringify({ resourceName: name });
  const rows: [
    method: string,
    url: string,
    body: Buffer | string,
    status: number,
    asked: boolean,
  ][] = [
    ["PUT", forged, wav, 403, false],
    ["PUT", good, Buffer.alloc(1_000_001), 413, false],
    ["PUT", good, wav, 200, true],
    ["PUT", good, wav, 409, false],
    ["POST", `${service.address}/v1alpha1/initupload`, json, 200, true],
  ];
  for (const [method, url, body, status, asked] of rows) {
    const headers = {
      expect: "100-continue",
      authorization: `Bearer ${service.key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const waiting = request(url, { method, headers });
    let isAsked = false;
    waiting
      .on("error", () => {})
      .once("continue", () => {
        isAsked = true;
        waiting.end(body);
      });
    waiting.flushHeaders();
    const [response] = await once(waiting, "response");
    assert.deepEqual([response.statusCode, isAsked], [status, asked], `${method} ${status}`);
    waiting.destroy();
  }
});

test("a resource of another account returns 404", async () => {
  for (const resourceName of [
    "transcripts/0190a0a0-0000-7000-8000-000000000000",
    "transcripts/x",
    "x",
  ]) {
    const { status } = await service.call("POST", "/v1alpha1/initupload", { resourceName });
    assert.ok(status === 404 || status === 400, `${resourceName}: ${status}`);
  }
  assert.equal((await service.call("POST", "/v1alpha1/initupload", { resource: "x" })).status, 400);
});

test("deleting a transcript deletes its media", async () => {
  const uri = await uriOf();
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  const answer = await fetch(uri);
  assert.ok(answer.status === 403 || answer.status === 404, `${answer.status}`);
  await answer.body?.cancel();
});
