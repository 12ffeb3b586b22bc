// §4.7: uploads that continue where they were interrupted: the protocol tus 1.0.0.
import assert from "node:assert/strict";
import { once } from "node:events";
import { statSync } from "node:fs";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { base64, openTusService, part, reasonOf } from "./tus-service.ts";

const origin = "https://pages.example";
const tus = await openTusService({
  HLUST_ENGINE: "scripted",
  HLUST_ROLE: "api",
  HLUST_UPLOAD_BYTES_MAX: "5000000",
  HLUST_ALLOWED_ORIGINS: origin,
});
after(() => tus[Symbol.asyncDispose]());
const { service, endpoint, send, create, offsetOf, newTranscript } = tus;

async function newKey(scopes: readonly string[]): Promise<string> {
  const key = { displayName: "another key", scopes };
  return (await service.call("POST", "/v1/apiKeys", key)).json.secret;
}

/** Waits until some bytes of an upload are in the media folder. */
async function untilStored(url: string): Promise<void> {
  const id = url.split("/").at(-1) ?? "";
  const file = join(service.dataFolder, "media", "partial", id);
  await until(async () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

test("each answer has the headers of the protocol", async () => {
  const options = await send("OPTIONS", endpoint, {
    authorization: undefined,
    "tus-resumable": undefined,
  });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("tus-version"), "1.0.0");
  assert.equal(options.headers.get("tus-max-size"), "5000000");
  const extensions = "creation,creation-with-upload,expiration,termination";
  assert.equal(options.headers.get("tus-extension"), extensions);
  assert.equal(options.headers.get("allow"), "POST, OPTIONS");

  const metadata = `filename ${base64("a.wav")},x`;
  const created = await send("POST", `${endpoint}/`, {
    "upload-length": "10",
    "upload-metadata": metadata,
  });
  const url = created.headers.get("location") ?? "";
  assert.match(url, /^http.*\/v1alpha1\/uploads\/[0-9a-f-]{36}$/);
  assert.equal(created.headers.get("upload-offset"), "0");
  const expires = Date.parse(created.headers.get("upload-expires") ?? "");
  assert.ok(Math.abs(expires - Date.now() - 86_400_000) < 60_000);

  const patched = await send("PATCH", url, part(0), "12345");
  assert.deepEqual([patched.status, patched.headers.get("upload-offset")], [204, "5"]);
  assert.ok(patched.headers.get("upload-expires"));
  const head = await send("HEAD", url);
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("cache-control"), "no-store");
  assert.equal(head.headers.get("upload-length"), "10");
  assert.equal(head.headers.get("upload-metadata"), metadata);
  const overridden = await send(
    "POST",
    url,
    { ...part(5), "x-http-method-override": "PATCH" },
    "67890",
  );
  assert.deepEqual([overridden.status, overridden.headers.get("upload-offset")], [204, "10"]);
  // The answer may have been lost: the client asks again.
  assert.equal((await send("PATCH", url, part(10), "")).status, 204);

  const withBody = await send("POST", endpoint, { ...part(0), "upload-length": "4" }, "abcd");
  assert.deepEqual([withBody.status, withBody.headers.get("upload-offset")], [201, "4"]);
  const answers = [options, created, patched, head, overridden, withBody, await send("GET", url)];
  for (const answer of answers) assert.equal(answer.headers.get("tus-resumable"), "1.0.0");
});

test("wrong requests are refused with a reason, and change nothing", async () => {
  const otherKey = await newKey(["transcripts.read"]);
  const url = await create(10);
  const absent = `${endpoint}/0190a0a0-0000-7000-8000-000000000000`;
  assert.equal((await send("PATCH", url, part(0), "12345")).status, 204);
  const length = { "upload-length": "5" };
  const rows: [
    method: string,
    url: string,
    headers: Record<string, string | undefined>,
    body: string,
    status: number,
    reason: string,
  ][] = [
    ["POST", endpoint, {}, "", 400, "UPLOAD_LENGTH_INVALID"],
    ["POST", endpoint, { "upload-length": "-1" }, "", 400, "UPLOAD_LENGTH_INVALID"],
    ["POST", endpoint, { "upload-length": "0" }, "", 400, "UPLOAD_LENGTH_INVALID"],
    ["POST", endpoint, { "upload-length": "5000001" }, "", 413, "PAYLOAD_TOO_LARGE"],
    ["POST", endpoint, { "upload-defer-length": "1" }, "", 400, "TUS_EXTENSION_NOT_SUPPORTED"],
    [
      "POST",
      endpoint,
      { ...length, "upload-metadata": "filename x" },
      "",
      400,
      "UPLOAD_METADATA_INVALID",
    ],
    [
      "POST",
      endpoint,
      { ...length, "upload-metadata": `filename ${base64("a\u0000b")}` },
      "",
      400,
      "INVALID_ARGUMENT",
    ],
    [
      "POST",
      endpoint,
      { ...length, "upload-metadata": `filename ${base64("x".repeat(1001))}` },
      "",
      400,
      "INVALID_ARGUMENT",
    ],
    [
      "POST",
      endpoint,
      { ...length, "upload-metadata": `resourceName ${base64("uploads/1")}` },
      "",
      400,
      "INVALID_ARGUMENT",
    ],
    [
      "POST",
      endpoint,
      { ...length, "upload-metadata": `resourceName ${base64("transcripts/x")}` },
      "",
      404,
      "TRANSCRIPT_NOT_FOUND",
    ],
    [
      "POST",
      endpoint,
      { ...length, "content-type": "audio/wav" },
      "12345",
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    ],
    ["POST", endpoint, { ...length, ...part(0) }, "123456", 413, "UPLOAD_TOO_LONG"],
    [
      "POST",
      endpoint,
      { ...length, "tus-resumable": undefined },
      "",
      412,
      "TUS_VERSION_NOT_SUPPORTED",
    ],
    [
      "POST",
      endpoint,
      { ...length, "tus-resumable": "0.2.2" },
      "",
      412,
      "TUS_VERSION_NOT_SUPPORTED",
    ],
    ["POST", endpoint, { ...length, authorization: undefined }, "", 401, "TOKEN_MISSING"],
    ["POST", endpoint, { ...length, authorization: "Bearer x" }, "", 401, "TOKEN_INVALID"],
    [
      "POST",
      endpoint,
      { ...length, authorization: `Bearer ${otherKey}` },
      "",
      403,
      "SCOPE_MISSING",
    ],
    ["GET", endpoint, {}, "", 405, "METHOD_NOT_ALLOWED"],
    ["PUT", url, {}, "12345", 405, "METHOD_NOT_ALLOWED"],
    ["POST", url, length, "", 405, "METHOD_NOT_ALLOWED"],
    [
      "PATCH",
      url,
      { "content-type": "application/offset+octet-stream" },
      "1",
      400,
      "UPLOAD_OFFSET_INVALID",
    ],
    ["PATCH", url, { ...part(5), "upload-offset": "five" }, "1", 400, "UPLOAD_OFFSET_INVALID"],
    ["PATCH", url, part(0), "12345", 409, "OFFSET_MISMATCH"],
    ["PATCH", url, part(6), "1", 409, "OFFSET_MISMATCH"],
    ["PATCH", url, part(5), "123456", 413, "UPLOAD_TOO_LONG"],
    ["PATCH", url, { ...part(5), "content-type": "audio/wav" }, "1", 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["PATCH", url, { ...part(5), "content-type": undefined }, "1", 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["PATCH", url, { ...part(5), "content-encoding": "gzip" }, "1", 415, "UNSUPPORTED_MEDIA_TYPE"],
    [
      "PATCH",
      url,
      { ...part(5), "upload-checksum": "sha1 x" },
      "1",
      400,
      "TUS_EXTENSION_NOT_SUPPORTED",
    ],
    ["PATCH", url, { ...part(5), "tus-resumable": "2" }, "1", 412, "TUS_VERSION_NOT_SUPPORTED"],
    ["PATCH", absent, part(0), "1", 404, "NOT_FOUND"],
    ["PATCH", `${endpoint}/x`, part(0), "1", 404, "NOT_FOUND"],
    ["PATCH", `${url}/x`, part(0), "1", 404, "NOT_FOUND"],
    ["DELETE", absent, {}, "", 404, "NOT_FOUND"],
    ["DELETE", url, { authorization: undefined }, "", 401, "TOKEN_MISSING"],
  ];
  for (const [method, target, headers, body, status, reason] of rows) {
    const hasBody = method !== "GET" && body !== "";
    const answer = await send(method, target, headers, hasBody ? body : undefined);
    const row = `${method} ${target} ${JSON.stringify(headers)}`;
    assert.equal(answer.status, status, row);
    assert.equal(await reasonOf(answer), reason, row);
    assert.equal(answer.headers.get("tus-resumable"), "1.0.0");
    if (status === 412) assert.equal(answer.headers.get("tus-version"), "1.0.0");
  }
  assert.equal(await offsetOf(url), 5);
  assert.equal((await send("HEAD", absent)).headers.get("upload-offset"), null);
});

test("more bytes than announced are refused, even without a Content-Length", async () => {
  const url = await create(1000);
  const body = new Blob([Buffer.alloc(600), Buffer.alloc(600)]).stream();
  const answer = await send("PATCH", url, part(0), body);
  assert.deepEqual([answer.status, await reasonOf(answer)], [413, "UPLOAD_TOO_LONG"]);
  const offset = await offsetOf(url);
  assert.ok(offset <= 600, `${offset}`);
  const rest = Buffer.alloc(1000 - offset);
  assert.equal((await send("PATCH", url, part(offset), rest)).status, 204);
});

test("HEAD ends a request whose connection is stuck, and keeps its bytes", async () => {
  const url = await create(2_000_000);
  const stuck = request(url, {
    method: "PATCH",
    headers: { ...part(0), ...tus.headers, "content-length": 2_000_000 },
  });
  const ended = once(stuck, "response");
  stuck.write(Buffer.alloc(1_200_000, 1));
  await untilStored(url);
  const offset = await offsetOf(url);
  assert.equal(offset, 1_200_000);
  const [response] = await ended;
  assert.equal(response.statusCode, 409);
  stuck.destroy();
  const rest = await send("PATCH", url, part(offset), Buffer.alloc(2_000_000 - offset));
  assert.equal(rest.headers.get("upload-offset"), "2000000");
});

test("over HTTP/2, the bytes before a reset are kept", async () => {
  const url = await create(2_000_000);
  const session = connect(service.address).on("error", () => {});
  const head = { ":method": "PATCH", ":path": new URL(url).pathname, ...tus.headers };
  const first = session.request({ ...head, ...part(0), "content-length": "2000000" });
  first.on("error", () => {}).write(Buffer.alloc(1_200_000, 1));
  await untilStored(url);
  first.close(constants.NGHTTP2_CANCEL);
  const offset = await offsetOf(url);
  assert.ok(offset > 0 && offset <= 1_200_000, `${offset}`);
  const rest = session.request({ ...head, ...part(offset) });
  rest.end(Buffer.alloc(2_000_000 - offset));
  const [answer] = await once(rest, "response");
  assert.deepEqual([answer[":status"], answer["upload-offset"]], [204, "2000000"]);
  session.destroy();
});

test("a refused request that waits for 100 Continue is not asked for its body", async () => {
  const url = await create(10);
  const rows: [offset: number, bytes: number, status: number, isAsked: boolean][] = [
    [1, 9, 409, false],
    [0, 11, 413, false],
    [0, 10, 204, true],
  ];
  for (const [offset, bytes, status, isExpected] of rows) {
    const headers = {
      ...part(offset),
      ...tus.headers,
      expect: "100-continue",
      "content-length": bytes,
    };
    const patch = request(url, { method: "PATCH", headers });
    let isAsked = false;
    patch
      .on("error", () => {})
      .once("continue", () => {
        isAsked = true;
        patch.end(Buffer.alloc(bytes));
      });
    patch.flushHeaders();
    const [response] = await once(patch, "response");
    assert.deepEqual([response.statusCode, isAsked], [status, isExpected], `${status}`);
    patch.destroy();
  }
});

test("a page of an allowed origin can read the headers of the protocol", async () => {
  const preflight = await fetch(endpoint, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "PATCH",
      "access-control-request-headers": "authorization,tus-resumable,upload-offset",
    },
  });
  assert.match(
    preflight.headers.get("access-control-allow-methods") ?? "",
    /\bPATCH\b.*\bDELETE\b/,
  );
  assert.equal(preflight.headers.get("access-control-allow-headers"), "Authorization, *");
  const created = await send("POST", endpoint, { origin, "upload-length": "10" });
  assert.equal(created.headers.get("access-control-allow-origin"), origin);
  assert.equal(created.headers.get("access-control-expose-headers"), "*");
});

test("a complete upload can be deleted until its media is used", async () => {
  const url = await create(5);
  assert.equal((await send("PATCH", url, part(0), "12345")).status, 204);
  assert.equal((await send("DELETE", url)).status, 204);
  assert.equal((await send("HEAD", url)).status, 404);
  const resourceName = await newTranscript();
  const metadata = { "upload-metadata": `resourceName ${base64(resourceName)}` };
  const used = await create(5, metadata);
  assert.equal((await send("PATCH", used, part(0), "12345")).status, 204);
  const refused = await send("DELETE", used);
  assert.deepEqual([refused.status, await reasonOf(refused)], [409, "UPLOAD_USED"]);
  assert.equal(await offsetOf(used), 5);
});
