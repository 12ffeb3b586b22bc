// Tests of clients that wait for 100 Continue before they send gigabytes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:http2";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import {
  openTestMediaDoor,
  protocols,
  reasonOf,
  wav,
  type Answer,
  type Protocol,
} from "../../test/fixtures/open-test-media-door.ts";
import { testUploadBytesMax } from "../../test/fixtures/open-test-transcripts.ts";

const door = await openTestMediaDoor();
after(async () => {
  await door[Symbol.asyncDispose]();
});
const { app, bases, send, newUpload, mediaCount, assertNothingLeft } = door;

/** Sends a PUT that announces its length, and its body after 100 Continue. */
async function put(
  protocol: Protocol,
  url: string,
  { body, bytes = body.length }: { readonly body: Buffer; readonly bytes?: number },
): Promise<Answer & { readonly isAsked: boolean }> {
  const headers = { expect: "100-continue", "content-length": `${bytes}` };
  return protocol === "HTTP/2" ? await put2(url, headers, body) : await put1(url, headers, body);
}

async function put1(url: string, headers: Record<string, string>, body: Buffer) {
  const { pathname, search } = new URL(url);
  const { port } = new URL(bases["HTTP/1.1"]);
  const request = httpRequest({ method: "PUT", path: pathname + search, port, headers });
  let isAsked = false;
  request.on("error", () => {});
  request.once("continue", () => {
    isAsked = true;
    request.end(body);
  });
  request.flushHeaders();
  const [response] = await once(request, "response");
  const answer = {
    status: response.statusCode,
    headers: response.headers,
    body: await buffer(response),
  };
  if (!isAsked) request.destroy();
  return { ...answer, isAsked };
}

async function put2(url: string, headers: Record<string, string>, body: Buffer) {
  const { pathname, search } = new URL(url);
  const session = connect(bases["HTTP/2"]);
  const stream = session.request({ ":method": "PUT", ":path": pathname + search, ...headers });
  let isAsked = false;
  stream.once("continue", () => {
    isAsked = true;
    stream.end(body);
  });
  const [{ ":status": status, ...rest }] = await once(stream, "response");
  const answer = { status, headers: rest, body: await buffer(stream) };
  session.destroy();
  return { ...answer, isAsked };
}

for (const protocol of protocols) {
  test(`${protocol}: a client that waits for 100 Continue gets it once`, async () => {
    const count = await mediaCount();
    const { name, url } = await newUpload();
    const answer = await put(protocol, url, { body: wav(200_000) });
    assert.deepEqual([answer.status, answer.isAsked], [200, true]);
    const { body } = await send(protocol, "GET", (await app.client.get(name)).uri);
    assert.deepEqual(body, wav(200_000));
    await assertNothingLeft(count + 1);
  });

  test(`${protocol}: a request that is refused because of its headers gets no 100 Continue`, async () => {
    const used = await newUpload();
    await send(protocol, "PUT", used.url, { body: wav(10) });
    const deleted = await newUpload();
    await app.client.delete(deleted.name);
    const { url } = await newUpload();
    const count = await mediaCount();
    const forged = url.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const rows: [url: string, bytes: number, status: number, reason: string][] = [
      [forged, 100, 403, "SIGNED_URL_INVALID"],
      [url.replace("expires=1", "expires=0"), 100, 403, "SIGNED_URL_INVALID"],
      [url, testUploadBytesMax + 1, 413, "PAYLOAD_TOO_LARGE"],
      [url, 2 ** 50, 413, "PAYLOAD_TOO_LARGE"],
      [used.url, 100, 409, "UPLOAD_USED"],
      [deleted.url, 100, 404, "NOT_FOUND"],
    ];
    for (const [target, bytes, status, reason] of rows) {
      const answer = await put(protocol, target, { body: wav(100), bytes });
      assert.deepEqual([answer.status, reasonOf(answer), answer.isAsked], [status, reason, false]);
      // The client may send the body or another request.
      if (protocol === "HTTP/1.1") assert.equal(answer.headers["connection"], "close");
    }
    await assertNothingLeft(count);
    assert.equal((await put(protocol, url, { body: wav(100) })).status, 200);
  });

  test(`${protocol}: an upload that exceeds the account's storage limit gets no 100 Continue, and one without a length is not stored`, async () => {
    const { url } = await newUpload();
    const count = await mediaCount();
    const { bytes } = await app.db
      .selectFrom("media")
      .select((row) => row.fn.sum<string>("size_bytes").as("bytes"))
      .executeTakeFirstOrThrow();
    const limits = JSON.stringify({ storedBytes: Number(bytes ?? 0) + 500 });
    await app.db.updateTable("account").set({ limits }).execute();
    const refused = await put(protocol, url, { body: wav(501), bytes: 501 });
    assert.deepEqual([refused.status, reasonOf(refused)], [429, "STORAGE_LIMIT"]);
    assert.equal(refused.isAsked, false);
    assert.equal(refused.headers["retry-after"], "60");
    // An upload without a length is refused while it is received.
    const withoutLength = await send(protocol, "PUT", url, { body: Readable.from([wav(501)]) });
    assert.deepEqual([withoutLength.status, reasonOf(withoutLength)], [429, "STORAGE_LIMIT"]);
    await assertNothingLeft(count);
    assert.equal((await put(protocol, url, { body: wav(500) })).status, 200);
    await app.db.updateTable("account").set({ limits: "{}" }).execute();
  });
}
