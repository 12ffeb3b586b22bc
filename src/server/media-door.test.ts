import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, test } from "node:test";
import {
  openTestMediaDoor,
  protocols,
  reasonOf,
  wav,
} from "../../test/fixtures/open-test-media-door.ts";
import {
  metadataWith,
  segmentsOf,
  testUploadBytesMax,
} from "../../test/fixtures/open-test-transcripts.ts";
import { exportsPath } from "../media/media-records.ts";

const door = await openTestMediaDoor();
after(async () => {
  await door[Symbol.asyncDispose]();
});
const { app, send, newUpload, mediaCount, untilWriting, assertNothingLeft } = door;

/**
 * Returns the entity tag of media, which is its id. The tag is the same before and after a restart,
 * because the media with a given id never changes.
 */
function etagOf(uri: string): string {
  return `"${new URL(uri).pathname.split("/").at(-1)}"`;
}

for (const protocol of protocols) {
  test(`${protocol}: uploaded media is read at the transcript's uri`, async () => {
    const { name, url } = await newUpload();
    assert.equal((await app.client.get(name)).uri, "");
    const bytes = wav(300_000);
    const answer = await send(protocol, "PUT", url, {
      body: bytes,
      headers: { "content-type": "text/html" },
    });
    assert.deepEqual([answer.status, answer.body.toString()], [200, "{}"]);
    const { uri } = await app.client.get(name);
    const etag = etagOf(uri);
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await send(protocol, method, uri);
      assert.equal(status, 200);
      assert.deepEqual(body, method === "GET" ? bytes : Buffer.alloc(0));
      const expected = {
        "content-type": "audio/wav",
        "content-length": "300000",
        etag,
        "accept-ranges": "bytes",
        "cache-control": "private",
        "content-disposition": "inline",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
      };
      for (const [key, value] of Object.entries(expected)) assert.equal(headers[key], value, key);
    }
  });

  test(`${protocol}: GET returns ranges and entity tags, and 416 for a range after the end`, async () => {
    const { name, url } = await newUpload();
    const bytes = wav(1000);
    await send(protocol, "PUT", url, { body: bytes });
    const { uri } = await app.client.get(name);
    const etag = etagOf(uri);
    const whole = bytes;
    const rows: [headers: Record<string, string>, status: number, body: Buffer, range?: string][] =
      [
        [{ range: "bytes=0-" }, 206, bytes, "bytes 0-999/1000"],
        [{ range: "bytes=10-19" }, 206, bytes.subarray(10, 20), "bytes 10-19/1000"],
        [{ range: "bytes=990-5000" }, 206, bytes.subarray(990), "bytes 990-999/1000"],
        [{ range: "bytes=-7" }, 206, bytes.subarray(993), "bytes 993-999/1000"],
        [{ range: "bytes=0-1,5-6" }, 200, whole],
        [{ range: `bytes=${"0-1,".repeat(1000)}5-6` }, 200, whole],
        [{ range: "bytes=19-10" }, 200, whole],
        [{ range: "bytes=0-4", "if-range": etag }, 206, bytes.subarray(0, 5), "bytes 0-4/1000"],
        [{ range: "bytes=0-4", "if-range": '"other"' }, 200, whole],
        [{ range: "bytes=0-4", "if-range": `W/${etag}` }, 200, whole],
        [{ "if-none-match": etag }, 304, Buffer.alloc(0)],
        [{ "if-none-match": `"x", W/${etag}` }, 304, Buffer.alloc(0)],
        [{ "if-none-match": "*" }, 304, Buffer.alloc(0)],
        [{ "if-none-match": etag, range: "bytes=0-4" }, 304, Buffer.alloc(0)],
        [{ "if-none-match": '"x", "y"' }, 200, whole],
      ];
    for (const [headers, status, body, range] of rows) {
      const answer = await send(protocol, "GET", uri, { headers });
      assert.equal(answer.status, status, JSON.stringify(headers));
      assert.deepEqual(answer.body, body);
      assert.equal(answer.headers["content-range"], range);
    }
    const past = await send(protocol, "GET", uri, { headers: { range: "bytes=1000-" } });
    assert.equal(past.status, 416);
    assert.equal(past.headers["content-range"], "bytes */1000");
    assert.equal(past.headers["content-type"], "application/json");
  });

  test(`${protocol}: an uploaded HTML page is not rendered`, async () => {
    const { name, url } = await newUpload();
    await send(protocol, "PUT", url, { body: Buffer.from("<script>alert(1)</script>") });
    const { headers } = await send(protocol, "GET", (await app.client.get(name)).uri);
    assert.equal(headers["content-type"], "application/octet-stream");
    assert.equal(headers["content-disposition"], "attachment");
  });

  test(`${protocol}: a URL accepts one PUT, and media sent to a new URL replaces the old media`, async () => {
    const { name, url } = await newUpload();
    await send(protocol, "PUT", url, { body: wav(100) });
    const before = (await app.client.get(name)).uri;
    const count = await mediaCount();
    const again = await send(protocol, "PUT", url, { body: wav(200) });
    assert.deepEqual([again.status, reasonOf(again)], [409, "UPLOAD_USED"]);
    assert.equal((await send(protocol, "GET", before)).body.length, 100);

    const { storageSignedUrl: fresh } = await app.client.initUpload(name);
    assert.equal((await send(protocol, "PUT", fresh, { body: wav(300) })).status, 200);
    const { uri } = await app.client.get(name);
    assert.equal((await send(protocol, "GET", uri)).body.length, 300);
    assert.equal((await send(protocol, "GET", before)).status, 404);
    await assertNothingLeft(count);
  });

  test(`${protocol}: only one of two concurrent PUTs to the same URL succeeds`, async () => {
    const count = await mediaCount();
    const { name, url } = await newUpload();
    const slow = async function* (size: number) {
      yield wav(size);
      await both.promise;
      yield Buffer.from("end");
    };
    const both = Promise.withResolvers<void>();
    const puts = [100, 200].map(
      async (size) => await send("HTTP/2", "PUT", url, { body: Readable.from(slow(size)) }),
    );
    await untilWriting(2);
    both.resolve();
    const answers = await Promise.all(puts);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
    const { body } = await send(protocol, "GET", (await app.client.get(name)).uri);
    assert.equal(body.length, answers[0]?.status === 200 ? 103 : 203);
    await assertNothingLeft(count + 1);
  });

  test(`${protocol}: media over the limit gets 413 and is not stored`, async () => {
    const count = await mediaCount();
    const { url } = await newUpload();
    const bytes = wav(testUploadBytesMax + 1);
    const announced = await send(protocol, "PUT", url, { body: bytes });
    assert.deepEqual([announced.status, reasonOf(announced)], [413, "PAYLOAD_TOO_LARGE"]);
    const streamed = await send(protocol, "PUT", url, { body: Readable.from([bytes, bytes]) });
    assert.deepEqual([streamed.status, reasonOf(streamed)], [413, "PAYLOAD_TOO_LARGE"]);
    await assertNothingLeft(count);
    const exact = await send(protocol, "PUT", url, { body: bytes.subarray(1) });
    assert.equal(exact.status, 200);
    await assertNothingLeft(count + 1);
  });

  test(`${protocol}: a stalled upload gets 504 and is not stored`, async () => {
    const count = await mediaCount();
    const { url } = await newUpload();
    const body = new Readable({ read() {} });
    body.push(wav(1000));
    const answer = await send(protocol, "PUT", url, { body });
    assert.equal(answer.status, 504);
    body.push(null);
    await assertNothingLeft(count);
    assert.equal((await send(protocol, "PUT", url, { body: wav(10) })).status, 200);
  });

  test(`${protocol}: a URL that is not signed for the request gets 403, and another method gets 405`, async () => {
    const { name, url } = await newUpload();
    await send(protocol, "PUT", url, { body: wav(100) });
    const { storageSignedUrl: fresh } = await app.client.initUpload(name);
    const { uri } = await app.client.get(name);
    const rows: [method: string, url: string, status: number][] = [
      ["GET", fresh, 403],
      ["HEAD", fresh, 403],
      ["PUT", uri, 403],
      ["PUT", fresh.replace("expires=1", "expires=2"), 403],
      ["PUT", fresh.replace("bytesMax=", "bytesMax=9"), 403],
      ["GET", `${uri}&token=x`, 403],
      ["GET", `${app.publicUrl}/media/`, 403],
      ["POST", fresh, 405],
      ["DELETE", uri, 405],
      ["PATCH", uri, 405],
    ];
    const messages = new Set<string>();
    for (const [method, target, status] of rows) {
      const body = method === "PUT" || method === "POST" ? { body: wav(100) } : {};
      const answer = await send(protocol, method, target, body);
      assert.equal(answer.status, status, `${method} ${target}`);
      if (status === 405) assert.equal(answer.headers["allow"], "GET, HEAD, PUT, OPTIONS");
      else if (method !== "HEAD") messages.add(JSON.parse(answer.body.toString()).message);
    }
    assert.equal(messages.size, 1);
    const options = await send(protocol, "OPTIONS", uri);
    assert.deepEqual([options.status, options.headers["allow"]], [204, "GET, HEAD, PUT, OPTIONS"]);
    assert.equal((await send(protocol, "GET", uri)).status, 200);
  });

  test(`${protocol}: a signed export is the file of its version, and 404 for another path`, async () => {
    const name = await app.client.create({
      metadata: metadataWith({ subject: "Ávarp" }),
      segments: segmentsOf("góðan ", "dag"),
    });
    const { version } = await app.client.get(name);
    const path = `${exportsPath}${name.slice("transcripts/".length)}/${version?.name}`;
    const urlOf = (path: string) => app.urls.sign({ method: "GET", path });
    const url = urlOf(`${path}/AUDACITY_LABELS`);
    const labels = "0.000000\t0.900000\tgóðan\n1.000000\t1.900000\tdag\n";
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, body } = await send(protocol, method, url);
      assert.equal(status, 200);
      assert.equal(body.toString(), method === "GET" ? labels : "");
      const expected = {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="Avarp.txt"; filename*=UTF-8''%C3%81varp.txt`,
        etag: `"${version?.name}-AUDACITY_LABELS-"`,
        "cache-control": "private",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
      };
      for (const [key, value] of Object.entries(expected)) assert.equal(headers[key], value, key);
    }
    const etag = `"${version?.name}-AUDACITY_LABELS-"`;
    const known = await send(protocol, "GET", url, { headers: { "if-none-match": etag } });
    assert.deepEqual([known.status, known.body.length], [304, 0]);
    const absent = "0198c5a2-7c2d-7a90-a1b2-c3d4e5f60718";
    const others = [
      `${path}/JSON`,
      `${path}/DOC`,
      path,
      exportsPath,
      `${exportsPath}x/x/VTT`,
      `${exportsPath}${absent}/${version?.name}/VTT`,
      `${path.replace(/[^/]*$/, absent)}/VTT`,
    ];
    for (const other of others) {
      assert.equal((await send(protocol, "GET", urlOf(other))).status, 404, other);
    }
    await app.client.delete(name);
    assert.equal((await send(protocol, "GET", url)).status, 404);
  });

  test(`${protocol}: URLs of a deleted transcript get 404`, async () => {
    const count = await mediaCount();
    const { name, url } = await newUpload();
    await send(protocol, "PUT", url, { body: wav(100) });
    const { uri } = await app.client.get(name);
    const { storageSignedUrl: fresh } = await app.client.initUpload(name);
    await app.client.delete(name);
    assert.equal((await send(protocol, "GET", uri)).status, 404);
    assert.equal((await send(protocol, "PUT", fresh, { body: wav(100) })).status, 404);
    await assertNothingLeft(count);
  });

  test(`${protocol}: media is deleted if its transcript is deleted during the upload`, async () => {
    const count = await mediaCount();
    const { name, url } = await newUpload();
    const deleting = async function* () {
      yield wav(1000);
      await app.client.delete(name);
      yield wav(1000);
    };
    const answer = await send(protocol, "PUT", url, { body: Readable.from(deleting()) });
    assert.equal(answer.status, 404);
    await assertNothingLeft(count);
  });
}

test("GET fails for media whose bytes are lost, instead of returning an empty recording", async () => {
  const { name, url } = await newUpload();
  await send("HTTP/1.1", "PUT", url, { body: wav(100) });
  const { media_id: mediaId } = await app.db
    .selectFrom("transcript")
    .where("id", "=", name.slice("transcripts/".length))
    .select("media_id")
    .executeTakeFirstOrThrow();
  await app.store.delete(mediaId ?? "");
  assert.equal((await send("HTTP/1.1", "GET", (await app.client.get(name)).uri)).status, 404);
  await app.client.delete(name);
});

test("PUT of a byte range is refused", async () => {
  const { url } = await newUpload();
  const headers = { "content-range": "bytes 0-99/200" };
  const answer = await send("HTTP/1.1", "PUT", url, { headers, body: wav(100) });
  assert.deepEqual([answer.status, reasonOf(answer)], [400, "CONTENT_RANGE_NOT_TAKEN"]);
});
