import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { IncomingMessage, RequestListener } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  answerRange,
  media,
  openFetchFixture,
  refused,
  serve,
  serveRaw,
  sha256,
  type FetchFixture,
  type Refusal,
} from "../../test/fixtures/fetch-fixture.ts";
import { certificates } from "../../test/jobs/tls-certificates.ts";

let fixture: FetchFixture;
let fetched: FetchFixture["fetched"];

before(async () => {
  fixture = await openFetchFixture();
  ({ fetched } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

test("fetchMedia() stores the media from a URL", async () => {
  const seen: IncomingMessage["headers"][] = [];
  await using server = await serve((request, response) => {
    seen.push(request.headers);
    answerRange(request, response);
  });
  const stored = await fetched(`${server.url}/a.wav?signature=1`);
  assert.equal(stored.sizeBytes, media.length);
  assert.equal(stored.kept, sha256(media));
  assert.equal(seen[0]?.["accept-encoding"], "identity");
  assert.equal(seen[0]?.authorization, undefined);
});

test("fetchMedia() reports why it could not fetch media", async () => {
  const rows: readonly (readonly [string, RequestListener, Refusal])[] = [
    ["404", status(404), { reason: "MEDIA_STATUS", message: /answered 404 Not Found$/ }],
    ["403", status(403), { reason: "MEDIA_STATUS", message: /answered 403 Forbidden$/ }],
    ["204", status(204), { reason: "MEDIA_STATUS", message: /answered 204 No Content$/ }],
    ["500", status(500), { reason: "MEDIA_STATUS", message: /500 Internal Server Error$/ }],
    ["799", status(799), { reason: "MEDIA_STATUS", message: /answered 799$/ }],
    ["a part", status(206), { reason: "MEDIA_STATUS", message: /206 Partial Content$/ }],
    ["empty", (_, response) => response.end(), { reason: "MEDIA_EMPTY", message: /0 bytes$/ }],
    [
      "reset",
      (request) => request.socket.resetAndDestroy(),
      { reason: "MEDIA_UNREACHABLE", message: /closed the connection$/ },
    ],
    [
      "declared too large",
      (_, response) => {
        response.setHeader("content-length", 1e12);
        response.write("a");
      },
      { reason: "MEDIA_TOO_LARGE", message: /larger than 50000000 bytes/ },
    ],
    [
      "gzip",
      (_, response) => {
        response.setHeader("content-encoding", "gzip");
        response.end(gzipSync(Buffer.alloc(1_000_000)));
      },
      { reason: "MEDIA_ENCODED", message: /compressed/ },
    ],
    [
      "gzip and identity",
      (_, response) => response.setHeader("content-encoding", ["identity", "gzip"]).end("a"),
      { reason: "MEDIA_ENCODED", message: /compressed data \(Content-Encoding\)/ },
    ],
    [
      "brotli",
      (_, response) => response.setHeader("content-encoding", "br").end("a"),
      { reason: "MEDIA_ENCODED", message: /compressed/ },
    ],
  ];
  for (const [name, listener, refusal] of rows) {
    await using server = await serve(listener);
    await refused(fetched(`${server.url}/${encodeURI(name)}`), refusal);
  }
  assert.deepEqual(await readdir(join(fixture.folder, "unfinished")), []);
});

function status(code: number): RequestListener {
  return (_, response) => {
    response.statusCode = code;
    response.end();
  };
}

test("fetchMedia() distinguishes hosts that refuse the connection, do not exist, or do not respond", async () => {
  const closed = await serve(() => {});
  await closed[Symbol.asyncDispose]();
  await refused(fetched(closed.url), { reason: "MEDIA_UNREACHABLE", message: /refused/ });
  await refused(fetched("http://media.invalid/"), {
    reason: "MEDIA_HOST_UNKNOWN",
    message: /no such name|could not be looked up/,
  });
  const speechless = createTcpServer((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"));
  await new Promise<void>((resolve) => speechless.listen(0, "127.0.0.1", resolve));
  const address = speechless.address();
  assert.ok(address !== null && typeof address === "object");
  const answer = fetched(`http://127.0.0.1:${address.port}/`).finally(() => speechless.close());
  await refused(answer, { reason: "MEDIA_NOT_HTTP", message: /does not answer in HTTP/ });
  await using statusless = await serveRaw((socket) => socket.end("HTTP/1.1 099 Odd\r\n\r\n"));
  await refused(fetched(statusless.url), {
    reason: "MEDIA_NOT_HTTP",
    message: /does not answer in HTTP/,
  });
  await using silent = await serve(() => {});
  await refused(fetched(silent.url, { limits: { headersMs: 50 } }), {
    reason: "MEDIA_UNREACHABLE",
    message: /did not answer in time/,
  });
});

test("fetchMedia() reports a certificate for another purpose as untrusted", async () => {
  const server = createTlsServer(certificates["client.example"] ?? {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const answer = fetched(`https://127.0.0.1:${address.port}/`).finally(() => server.close());
  await refused(answer, { reason: "MEDIA_TLS", message: /INVALID_PURPOSE/ });
});

test("fetchMedia() retries after the delay that the server requests, unless the delay is too long", async () => {
  const rows: readonly (readonly [number, string, number])[] = [
    [429, "0", 2],
    [503, "1", 2],
    [429, new Date(Date.now() - 5_000).toUTCString(), 2],
    [429, "soon", 2],
    [429, "61", 1],
    [503, new Date(Date.now() + 600_000).toUTCString(), 1],
  ];
  for (const [code, retryAfter, times] of rows) {
    const askedAt: number[] = [];
    await using server = await serve((request, response) => {
      askedAt.push(performance.now());
      if (askedAt.length === 2) return answerRange(request, response);
      response.writeHead(code, { "retry-after": retryAfter }).end();
    });
    const answer = fetched(server.url);
    if (times === 2) assert.equal((await answer).sizeBytes, media.length);
    else {
      const message = /answered (429|503) .+ and asks to retry after \d+ s$/;
      await refused(answer, { reason: "MEDIA_STATUS", message });
    }
    assert.equal(askedAt.length, times, retryAfter);
    const waitedMs = (askedAt[1] ?? Infinity) - (askedAt[0] ?? 0);
    if (retryAfter === "1") assert.ok(waitedMs >= 950, `${waitedMs}`);
  }
});

test("fetchMedia() stops retrying a transfer that keeps breaking, and reports its progress", async () => {
  let count = 0;
  await using server = await serve((_, response) => {
    count++;
    response.setHeader("content-length", 1_000);
    response.write("a".repeat(300), () => response.destroy());
  });
  await refused(fetched(server.url), {
    reason: "MEDIA_BROKEN",
    message: /after 300 of 1000 bytes$/,
  });
  assert.equal(count, 4);
});

test("fetchMedia() retries after a transient failure", async () => {
  let count = 0;
  await using server = await serve((request, response) => {
    count++;
    if (count === 1) return status(503)(request, response);
    answerRange(request, response);
  });
  assert.equal((await fetched(server.url)).sizeBytes, media.length);
});

test("fetchMedia() does not extend the wait for the response headers when 1xx responses arrive", async () => {
  const rows: readonly (readonly [string, string])[] = [
    ["", "HTTP/1.1 103 Early Hints\r\n\r\n"],
    ["HTTP/1.1 200 OK\r\nA: ", "a"],
    ["HTTP/1.1 200 O", "K"],
  ];
  for (const [start, more] of rows) {
    await using server = await serveRaw((socket) => {
      socket.write(start);
      const timer = setInterval(() => socket.write(more), 10);
      socket.on("close", () => clearInterval(timer));
    });
    const limits = { headersMs: 100, attemptsMax: 1, totalMs: 10_000 };
    const message = /did not answer in time$/;
    await refused(fetched(server.url, { limits }), { reason: "MEDIA_UNREACHABLE", message });
  }
});

test("fetchMedia() stops endless, slow and cancelled transfers", async () => {
  await using endless = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", more);
    more();
  });
  await refused(fetched(endless.url, { bytesMax: 1_000_000 }), {
    reason: "MEDIA_TOO_LARGE",
    message: /larger than 1000000 bytes/,
  });
  await using slow = await serve((_, response) => {
    const timer = setInterval(() => response.write("a"), 10);
    response.on("close", () => clearInterval(timer));
  });
  await refused(fetched(slow.url, { limits: { stallMs: 100, stallBytesMin: 100 } }), {
    reason: "MEDIA_TOO_SLOW",
    message: /more slowly than 1000 bytes a second for 0.1 s/,
  });
  await refused(fetched(slow.url, { limits: { totalMs: 100 } }), {
    reason: "MEDIA_TOO_SLOW",
    message: /could not be downloaded within/,
  });
  const reason = new Error("cancelled");
  const abort = new AbortController();
  setTimeout(() => abort.abort(reason), 50);
  await assert.rejects(fetched(slow.url, { signal: abort.signal }), reason);
  assert.deepEqual(await readdir(join(fixture.folder, "unfinished")), []);
});
