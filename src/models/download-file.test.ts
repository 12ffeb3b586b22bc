import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { hiddenNames, serveDownloads, sha256Of } from "../../test/fixtures/model-fixture.ts";
import {
  archive,
  PullFixture,
  refusedPull,
  writeHead,
  type Sent,
} from "../../test/fixtures/pull-fixture.ts";
import type { ErrorCode } from "../std/error-codes.ts";

test("a download resumes where the connection broke", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  const cuts = [50_000, 50_001, 100_000, 110_000, 250_000, archive.length - 1];
  await using server = await serveDownloads(fixture.serving(archive, sent, [...cuts]));
  await fixture.pull(server.url, { sha256: sha256Of(archive) }, { limits: { attemptsMax: 3 } });
  await fixture.assertInstalled();
  assert.equal(sent.bytes, archive.length, "every byte was sent once");
  assert.deepEqual(sent.ranges, [undefined, ...cuts.map((cut) => `bytes=${cut}-`)]);
});

test("a pull resumes the downloads of a failed pull", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(fixture.serving(archive, sent, [100_000, 100_000]));
  const limits = { attemptsMax: 2, progressBytesMin: 1 << 20 };
  await refusedPull(fixture.pull(server.url, {}, { limits }), "unavailable", /127\.0\.0\.1.*: /);
  fixture.assertNothingInstalled();
  await fixture.pull(server.url);
  await fixture.assertInstalled();
  assert.equal(sent.bytes, archive.length);
  assert.deepEqual(sent.ranges, [undefined, "bytes=100000-", "bytes=100000-"]);
});

test("a part from before a restart of the machine is resumed only if its checksum is known", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  await using server = await serveDownloads(
    fixture.serving(archive, sent, [100_000, 100_000, 100_000]),
  );
  const limits = { attemptsMax: 1 };
  await refusedPull(fixture.pull(server.url, {}, { limits }), "unavailable", /./);
  const note = hiddenNames(fixture.modelsFolder).downloads.find((name) => name.endsWith(".json"));
  const path = join(fixture.modelsFolder, ".downloads", note ?? "");
  const changed = { ...JSON.parse(readFileSync(path, "utf8")), boot: "another" };
  writeFileSync(path, JSON.stringify(changed));
  await refusedPull(fixture.pull(server.url, {}, { limits }), "unavailable", /./);
  writeFileSync(path, JSON.stringify(changed));
  await refusedPull(
    fixture.pull(server.url, { sha256: sha256Of(archive) }, { limits }),
    "unavailable",
    /./,
  );
  assert.deepEqual(sent.ranges, [undefined, undefined, "bytes=100000-"]);
});

test("a download starts over if the server does not support ranges or the file has changed", async () => {
  using fixture = new PullFixture();
  let connections = 0;
  await using plain = await serveDownloads((_request, response) => {
    connections += 1;
    response.writeHead(200, { "content-length": archive.length, etag: '"one"' });
    if (connections > 1) response.end(archive);
    else fixture.breakOff(response, archive.subarray(0, 99_999));
  });
  await fixture.pull(plain.url, { sha256: sha256Of(archive) });
  await fixture.assertInstalled();
  assert.equal(connections, 2);

  const old = randomBytes(archive.length + 1000);
  const first: Sent = { bytes: 0, ranges: [] };
  const second: Sent = { bytes: 0, ranges: [] };
  const listeners = [
    fixture.serving(old, first, [70_000], '"old"'),
    fixture.serving(archive, second),
  ];
  await using changing = await serveDownloads((request, response) => {
    listeners[Math.min(1, first.ranges.length)]?.(request, response);
  });
  await fixture.pull(changing.url);
  await fixture.assertInstalled();
  assert.deepEqual([first.bytes, second.bytes], [70_000, archive.length]);
  assert.deepEqual(second.ranges, ["bytes=70000-"]);
});

test("a download starts over if the server sends a different range from the one requested", async () => {
  using fixture = new PullFixture();
  const seen: (string | undefined)[] = [];
  await using server = await serveDownloads((request, response) => {
    seen.push(request.headers.range);
    if (seen.length === 1) {
      writeHead(response, { from: 0, length: archive.length, etag: '"one"' });
      fixture.breakOff(response, archive.subarray(0, 50_000));
    } else if (seen.length === 2) {
      writeHead(response, { from: 40_000, length: archive.length, etag: '"one"' });
      response.end(archive.subarray(40_000));
    } else {
      writeHead(response, { from: 0, length: archive.length, etag: '"one"' });
      response.end(archive);
    }
  });
  await fixture.pull(server.url, { sha256: sha256Of(archive) });
  await fixture.assertInstalled();
  assert.deepEqual(seen, [undefined, "bytes=50000-", undefined]);
});

test("a stalled download is aborted, and its partial file is kept", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  let connections = 0;
  const whole = fixture.serving(archive, sent);
  await using server = await serveDownloads((request, response) => {
    connections += 1;
    if (connections === 2) return;
    if (connections > 2) {
      whole(request, response);
      return;
    }
    writeHead(response, { from: 0, length: archive.length, etag: '"one"' });
    response.write(archive.subarray(0, 30_000));
  });
  await fixture.pull(server.url, {}, { limits: { stallMs: 150, headersMs: 150 } });
  await fixture.assertInstalled();
  assert.equal(connections, 3);
  assert.deepEqual(sent.ranges, ["bytes=30000-"]);
});

test("a body that is too long is rejected at the first excess byte", async () => {
  using fixture = new PullFixture();
  let written = 0;
  await using server = await serveDownloads((_request, response) => {
    const more = (): void => {
      written += 65_536;
      if (!response.destroyed) response.write(Buffer.alloc(65_536), more);
    };
    more();
  });
  await refusedPull(
    fixture.pull(server.url, { bytes: 100_000 }),
    "data_loss",
    /sent more than the 100000 bytes of the file/,
  );
  assert.ok(written < 20_000_000, `${written}`);
  await refusedPull(fixture.pull(server.url), "failed_precondition", /does not report its length/);
  fixture.assertNothingInstalled();
});

test("a body without Content-Length that ends too early is an error", async () => {
  using fixture = new PullFixture();
  let connections = 0;
  await using server = await serveDownloads((_request, response) => {
    connections += 1;
    response.write(archive.subarray(0, 1000));
    response.end();
  });
  const { length } = archive;
  const pulled = fixture.pull(server.url, { bytes: length });
  await refusedPull(
    pulled,
    "unavailable",
    new RegExp(`the download ended after 1000 of ${length} bytes`),
  );
  assert.equal(connections, 5);
});

test("responses without the file are errors", async () => {
  using fixture = new PullFixture();
  const rows: [
    status: number,
    headers: Record<string, string>,
    code: ErrorCode,
    message: RegExp,
  ][] = [
    [404, {}, "not_found", /answers 404/],
    [403, {}, "failed_precondition", /answers 403/],
    [204, {}, "failed_precondition", /answers 204/],
    [206, { "content-range": "bytes 0-3/4" }, "failed_precondition", /answers 206/],
    [304, {}, "failed_precondition", /answers 304/],
    [500, {}, "unavailable", /answers 500/],
    [429, {}, "unavailable", /answers 429/],
    [200, { "content-encoding": "gzip" }, "failed_precondition", /answers gzip/],
    [302, {}, "failed_precondition", /answers 302/],
    [302, { location: "/again" }, "failed_precondition", /redirects more than 5 times/],
    [302, { location: "http://[" }, "failed_precondition", /redirects to an invalid URL/],
    [
      302,
      { location: "http://example.org/x?signed=1" },
      "failed_precondition",
      /redirects to http:\/\/example\.org, which is not https/,
    ],
    [307, { location: "file:///etc/passwd" }, "failed_precondition", /which is not https/],
    [308, { location: "https://user:word@example.org/" }, "failed_precondition", /not https/],
  ];
  for (const [status, headers, code, message] of rows) {
    let connections = 0;
    await using server = await serveDownloads((_request, response) => {
      connections += 1;
      response.writeHead(status, headers);
      response.end();
    });
    await refusedPull(fixture.pull(server.url), code, message);
    const expected = code === "unavailable" ? 5 : headers["location"] === "/again" ? 6 : 1;
    assert.equal(connections, expected, `${status} ${JSON.stringify(headers)}`);
  }
  await refusedPull(fixture.pull("http://example.org/it"), "failed_precondition", /is not https/);
  fixture.assertNothingInstalled();
});

test("a server with an untrusted certificate is contacted only once", async () => {
  using fixture = new PullFixture();
  const folder = fixture.modelsFolder;
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const named = ["-nodes", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert];
  execFileSync("openssl", [...made, ...named], { stdio: "ignore" });
  let connections = 0;
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    const pulled = fixture.pull(`https://127.0.0.1:${address.port}/it`);
    await refusedPull(pulled, "failed_precondition", /the server cannot be trusted: DEPTH_ZERO/);
    assert.equal(connections, 1);
  } finally {
    server.close();
  }
});

test("a redirect is followed on every attempt, and errors do not show its query", async () => {
  using fixture = new PullFixture();
  const sent: Sent = { bytes: 0, ranges: [] };
  const file = fixture.serving(archive, sent, [60_000, 60_000, 60_000]);
  let redirects = 0;
  await using server = await serveDownloads((request, response) => {
    if (request.url?.startsWith("/signed") === true) file(request, response);
    else {
      redirects += 1;
      response.writeHead(302, { location: `/signed?secret=${redirects}` }).end();
    }
  });
  const limits = { attemptsMax: 2 };
  await assert.rejects(
    fixture.pull(`${server.url}/it`, {}, { limits: { ...limits, progressBytesMin: 1 << 20 } }),
    (error) => {
      assert.doesNotMatch(String(error), /secret/);
      return true;
    },
  );
  await fixture.pull(`${server.url}/it`, {}, { limits: { attemptsMax: 3 } });
  await fixture.assertInstalled();
  assert.deepEqual([sent.bytes, redirects], [archive.length, 4]);
});
