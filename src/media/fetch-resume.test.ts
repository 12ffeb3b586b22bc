import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import {
  answerRange,
  loopback,
  media,
  openFetchFixture,
  refused,
  serve,
  serveRaw,
  sha256,
  type FetchFixture,
} from "../../test/fixtures/fetch-fixture.ts";
import { newId } from "../std/ids.ts";
import { untilAborted } from "../std/until-aborted.ts";
import { fetchMedia, type FetchMediaOptions } from "./fetch-media.ts";

let fixture: FetchFixture;
let fetched: FetchFixture["fetched"];

before(async () => {
  fixture = await openFetchFixture();
  ({ fetched } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

test("fetchMedia() resumes where the transfer broke, and stores the same bytes", async () => {
  const starts: number[] = [];
  const partBytes = 1_000_000;
  await using server = await serve((request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    starts.push(start);
    if (starts.length === 3) {
      answerRange(request, response);
      return;
    }
    response.statusCode = start === 0 ? 200 : 206;
    response.setHeader("etag", '"one"');
    response.setHeader("content-length", media.length - start);
    if (start > 0) {
      response.setHeader("content-range", `bytes ${start}-${media.length - 1}/${media.length}`);
    }
    response.write(media.subarray(start, start + partBytes), () => response.destroy());
  });
  const stored = await fetched(server.url);
  assert.equal(stored.kept, sha256(media));
  // A reset discards bytes in flight: each attempt resumes from the bytes that arrived.
  const [first = NaN, second = NaN, third = NaN, ...more] = starts;
  assert.deepEqual(more, []);
  assert.equal(first, 0);
  assert.ok(second > 0 && second <= partBytes, `${second}`);
  assert.ok(third > second && third <= second + partBytes, `${third}`);
});

test("fetchMedia() starts again if the media has changed", async () => {
  for (const etag of ['"two"', undefined, 'W/"one"']) {
    let count = 0;
    await using server = await serve((request, response) => {
      count++;
      if (count > 1) return answerRange(request, response, '"two"');
      if (etag !== undefined) response.setHeader("etag", etag === '"two"' ? '"one"' : etag);
      response.setHeader("content-length", 5_000_000);
      response.write(Buffer.alloc(500_000, 7), () => response.destroy());
    });
    const stored = await fetched(server.url);
    assert.equal(stored.kept, sha256(media), `${etag}`);
  }
});

test("fetchMedia() starts again if the server sends the whole media instead of the rest", async () => {
  let count = 0;
  await using server = await serve((request, response) => {
    count++;
    request.headers.range = "";
    if (count > 1) return answerRange(request, response);
    response.writeHead(200, { etag: '"one"', "content-length": media.length });
    response.write(media.subarray(0, 500_000), () => response.destroy());
  });
  const stored = await fetched(server.url);
  assert.equal(stored.kept, sha256(media));
});

test("fetchMedia() resumes by the media's date if there is no ETag and the date is a strong validator", async () => {
  const modified = "Sun, 22 Nov 2026 10:00:00 GMT";
  const rows: readonly (readonly [string, Record<string, string>, string | undefined])[] = [
    ["a second old", { date: "Sun, 22 Nov 2026 10:00:01 GMT" }, modified],
    ["of this second", { date: modified }, undefined],
    ["with a weak tag", { date: "Sun, 22 Nov 2026 11:00:00 GMT", etag: 'W/"one"' }, undefined],
    ["with a strong tag", { date: modified, etag: '"one"' }, '"one"'],
  ];
  for (const [name, headers, ifRange] of rows) {
    const asked: IncomingMessage["headers"][] = [];
    await using server = await serve((request, response) => {
      asked.push(request.headers);
      response.sendDate = false;
      const all = { ...headers, "last-modified": modified };
      if (asked.length === 1) {
        response.writeHead(200, { ...all, "content-length": media.length });
        response.write(media.subarray(0, 500_000), () => response.destroy());
        return;
      }
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      const part = { "content-range": `bytes ${from}-${media.length - 1}/${media.length}` };
      response.writeHead(from > 0 ? 206 : 200, { ...all, ...(from > 0 && part) });
      response.end(media.subarray(from));
    });
    const stored = await fetched(server.url);
    assert.equal(stored.kept, sha256(media), name);
    assert.equal(asked.length, 2, name);
    assert.equal(asked[1]?.["if-range"], ifRange, name);
    assert.equal(asked[1]?.range === undefined, ifRange === undefined, name);
  }
});

test("fetchMedia() refuses partial content that does not continue the received bytes", async () => {
  const last = media.length - 1;
  const type = { "content-type": "multipart/byteranges; boundary=a" };
  const rows: readonly (readonly [string, (from: number) => Record<string, string>])[] = [
    ["another start", (from) => ({ "content-range": `bytes ${from + 1}-${last}/${media.length}` })],
    ["another size", (from) => ({ "content-range": `bytes ${from}-${last}/${media.length + 1}` })],
    ["no size", (from) => ({ "content-range": `bytes ${from}-${last}/*` })],
    ["no range", () => ({})],
    ["nonsense", () => ({ "content-range": "bytes all" })],
    [
      "many parts",
      (from) => ({ ...type, "content-range": `bytes ${from}-${last}/${media.length}` }),
    ],
    ["no tag", (from) => ({ etag: "", "content-range": `bytes ${from}-${last}/${media.length}` })],
    ["a 412", () => ({ ":status": "412" })],
    ["a 416", () => ({ ":status": "416" })],
  ];
  for (const [name, headersOf] of rows) {
    const ranges: (string | undefined)[] = [];
    await using server = await serve((request, response) => {
      ranges.push(request.headers.range);
      const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
      if (from === 0 && ranges.length > 1) {
        answerRange(request, response);
      } else if (from === 0) {
        response.writeHead(200, { etag: '"one"', "content-length": media.length });
        response.write(media.subarray(0, 500_000), () => response.destroy());
      } else {
        const { ":status": status, ...headers } = headersOf(from);
        response.writeHead(Number(status ?? 206), { etag: '"one"', ...headers });
        response.end(Buffer.alloc(media.length - from, 7));
      }
    });
    const stored = await fetched(server.url);
    assert.equal(stored.kept, sha256(media), name);
    assert.deepEqual(
      ranges.map((range) => range !== undefined),
      [false, true, false],
      name,
    );
  }
});

test("fetchMedia() treats media cut off by a broken connection as incomplete, however its length is declared", async () => {
  const body = "HTTP/1.1 200 OK\r\n";
  const rows: readonly (readonly [string, boolean])[] = [
    [`${body}Connection: close\r\nContent-Length: 9\r\n\r\nabc`, false],
    ["HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nabc", false],
    [`${body}Content-Length: 9\r\n\r\nabc`, false],
    [`${body}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, false],
    [`${body}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, false],
    [`${body}Transfer-Encoding: chunked\r\n\r\n9\r\nabc`, true],
    // Without a declared length, closing the connection ends the media, but a reset does not.
    [`${body}\r\nabc`, true],
  ];
  for (const [answer, isReset] of rows) {
    let count = 0;
    let reset = (): void => {};
    await using server = await serveRaw((socket) => {
      count++;
      reset = () => socket.resetAndDestroy();
      if (isReset) socket.write(answer);
      else socket.end(answer);
    });
    // A reset discards bytes in flight.
    const store: FetchMediaOptions["store"] = {
      async put(_id, bytes) {
        for await (const _ of bytes) if (isReset) reset();
        throw new Error("treated as complete");
      },
    };
    const message = /broke after 3( of 9)? bytes$/;
    await refused(fetched(server.url, { store }), { reason: "MEDIA_BROKEN", message });
    assert.equal(count, 4, answer);
  }
});

test("fetchMedia() verifies the server's checksum, and retries once after a mismatch", async () => {
  const digest = (name: string, bytes = media): string =>
    createHash(name).update(bytes).digest("base64");
  const other = Buffer.from("other");
  const rows: readonly (readonly [string, Record<string, string>, number])[] = [
    ["right", { "repr-digest": `sha-256=:${digest("sha256")}:` }, 1],
    ["right, by MD5", { "x-goog-hash": `crc32c=AAAAAA==,md5=${digest("md5")}` }, 1],
    ["wrong", { "repr-digest": `sha-256=:${digest("sha256", other)}:` }, 2],
    ["wrong, by MD5", { "content-md5": digest("md5", other) }, 2],
  ];
  for (const [name, headers, times] of rows) {
    let count = 0;
    await using server = await serve((request, response) => {
      count++;
      for (const [field, value] of Object.entries(headers)) response.setHeader(field, value);
      answerRange(request, response);
    });
    if (times === 1) {
      assert.equal((await fetched(server.url)).kept, sha256(media), name);
    } else {
      await refused(fetched(server.url), {
        reason: "MEDIA_CORRUPT",
        message: /was damaged in 2 downloads: it does not match the checksum of its server/,
      });
    }
    assert.equal(count, times, name);
  }
  // A resumed download is verified as a whole. After a single mismatch, the second attempt
  // succeeds.
  let count = 0;
  await using server = await serve((request, response) => {
    count++;
    const bytes = Buffer.from(media);
    if (count < 3) bytes[7] = (bytes[7] ?? 0) ^ 1;
    const from = Number(/\d+/.exec(request.headers.range ?? "")?.[0] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      etag: '"one"',
      "repr-digest": `sha-256=:${digest("sha256")}:`,
      ...(from > 0 && { "content-range": `bytes ${from}-${media.length - 1}/${media.length}` }),
      "content-length": media.length - from,
    });
    if (count === 1) response.write(bytes.subarray(0, 900_000), () => response.destroy());
    else response.end(bytes.subarray(from));
  });
  assert.equal((await fetched(server.url)).kept, sha256(media));
  assert.equal(count, 3);
});

test("fetchMedia() stops if it is cancelled while it is starting again", async () => {
  let count = 0;
  await using server = await serve((request, response) => {
    count++;
    if (count > 1) return answerRange(request, response, '"two"');
    response.writeHead(200, { "content-length": media.length });
    response.write(media.subarray(0, 500_000), () => response.destroy());
  });
  const reason = new Error("cancelled");
  const abort = new AbortController();
  let puts = 0;
  const store: FetchMediaOptions["store"] = {
    async put(_id, bytes, options) {
      puts++;
      if (puts > 1) abort.abort(reason);
      if (puts > 9) return { sizeBytes: 0, sha256: null, contentType: "it never ends" };
      for await (const _ of options.signal ? untilAborted(bytes, options.signal) : bytes) continue;
      throw new Error("not reached");
    },
  };
  const { signal } = abort;
  const all = { id: newId(), store, allow: loopback, bytesMax: media.length, signal };
  await assert.rejects(fetchMedia({ ...all, url: server.url, limits: { backoffMs: 5 } }), reason);
  assert.equal(puts, 2);
});
