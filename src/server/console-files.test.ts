import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { RawConnection, type RawAnswer } from "../../test/fixtures/raw-http.ts";
import { ServiceError } from "../std/service-error.ts";
import { createConsoleFiles } from "./console-files.ts";
import { answerFailure } from "./answer-failure.ts";

const page = "<!doctype html><title>Hlust</title>";
const script = "export const a = 1;\n".repeat(50);
const media = "https://bucket.example";

const parts = new AsyncDisposableStack();
let folder: string;
let address: string;

/** Opens a port that serves only the console from a folder. */
async function serve(built: string): Promise<string> {
  const files = createConsoleFiles({ folder: built, mediaOrigins: [media] });
  const server = createServer((request, response) => {
    if (!files.handles(request)) {
      response.writeHead(404).end();
      return;
    }
    files.handle(request, response).catch((error: unknown) => {
      assert.ok(error instanceof ServiceError, String(error));
      answerFailure(response, error);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  parts.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  return `http://127.0.0.1:${bound.port}`;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-console-files-"));
  parts.defer(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const built = join(folder, "console");
  mkdirSync(join(built, "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.js"), "secret");
  writeFileSync(join(built, "notes.txt"), "a file of an unknown type");
  for (const [name, text] of [
    ["index.html", page],
    ["assets/main-abc.js", script],
  ] as const) {
    writeFileSync(join(built, name), text);
    writeFileSync(join(built, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(built, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(built, "assets/inter.woff2"), "font");
  writeFileSync(join(built, "assets/talk.wav"), "sound");
  address = await serve(built);
});
after(() => parts.disposeAsync());

/** Sends the request target unchanged. HTTP clients would resolve "..". */
async function ask(
  target: string,
  {
    method = "GET",
    headers = {},
    at = address,
  }: { method?: string; headers?: Record<string, string>; at?: string } = {},
): Promise<RawAnswer> {
  await using connection = await RawConnection.open(at);
  const lines = Object.entries({ host: "hlust", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  connection.send(Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`));
  return (await connection.answer(method === "HEAD")) ?? assert.fail("no answer");
}

const encodingOf = ({ headers }: RawAnswer) => headers.get("content-encoding");

test("every path of the console returns the same page with its security policy", async () => {
  for (const target of ["/", "/console", "/?x=1"]) {
    const { status, headers } = await ask(target);
    assert.deepEqual([status, headers.get("location")], [307, "/console/"], target);
  }
  for (const target of [
    "/console/",
    "/console/transcripts/1?q=x",
    "/console/assets",
    "/console/x.js",
  ]) {
    const answer = await ask(target);
    assert.deepEqual([answer.status, answer.body.toString()], [200, page], target);
    const { headers } = answer;
    assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(headers.get("cache-control"), "no-cache");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.match(headers.get("permissions-policy") ?? "", /microphone=\(self\), camera=\(\)/);
    const policy = new Map(
      (headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
        const [name = "", ...values] = rule.split(" ");
        return [name, values.join(" ")];
      }),
    );
    assert.equal(policy.get("default-src"), "'none'");
    assert.equal(policy.get("script-src"), "'self'");
    assert.equal(policy.get("style-src"), "'self'");
    assert.equal(policy.get("connect-src"), `'self' ${media}`);
    assert.equal(policy.get("media-src"), `'self' ${media} blob:`);
    assert.equal(policy.get("frame-ancestors"), "'none'");
    assert.equal(policy.get("base-uri"), "'none'");
    assert.equal(policy.get("require-trusted-types-for"), "'script'");
    assert.equal(policy.get("trusted-types"), "'none'");
  }
});

test("files have their types, can be cached forever, and are sent in the smallest accepted encoding", async () => {
  const file = "/console/assets/main-abc.js";
  const rows: [accepted: string, encoding: string | undefined][] = [
    ["gzip, deflate, br, zstd", "br"],
    ["GZIP", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["br; q=0.0", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["*", undefined],
    ["", undefined],
  ];
  for (const [accepted, encoding] of rows) {
    const answer = await ask(file, { headers: { "accept-encoding": accepted } });
    const { status, headers, body } = answer;
    assert.deepEqual([status, encodingOf(answer)], [200, encoding], accepted);
    const plain = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ""] ?? Buffer.from;
    assert.equal(plain(body).toString(), script);
    assert.equal(headers.get("vary"), "accept-encoding");
    assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(headers.get("content-type"), "text/javascript; charset=utf-8");
  }
  assert.equal(encodingOf(await ask(file)), undefined, "no header at all");
  const types = { "inter.woff2": "font/woff2", "talk.wav": "audio/wav" };
  for (const [name, type] of Object.entries(types)) {
    const answer = await ask(`/console/assets/${name}`, { headers: { "accept-encoding": "br" } });
    assert.deepEqual([answer.headers.get("content-type"), encodingOf(answer)], [type, undefined]);
  }
});

test("HEAD returns only headers, and other methods are refused", async () => {
  for (const target of ["/console/", "/console/assets/main-abc.js"]) {
    const got = await ask(target);
    const head = await ask(target, { method: "HEAD" });
    assert.deepEqual([head.status, head.body.length], [200, 0]);
    assert.equal(head.headers.get("content-length"), got.headers.get("content-length"));
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const { status, headers } = await ask(target, { method, headers: { "content-length": "0" } });
      assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"], `${method} ${target}`);
    }
  }
});

test("no target leads to a file outside the built console", async () => {
  const missing = [
    "/console/assets/none.js",
    "/console/assets/",
    "/console/assets/main-abc.js/",
    "/console/assets/../../secret.js",
    "/console/assets/../index.html",
    "/console/assets/%2e%2e/%2e%2e/secret.js",
    "/console/assets/..%2f..%2fsecret.js",
    "/console/assets/..\\..\\secret.js",
    "/console/assets//etc/passwd",
    "/console/assets/main-abc.js.br",
    "/console/assets/main-abc.js%00.html",
    "/console/assets/__proto__",
    "/console/assets/constructor",
  ];
  for (const target of missing) {
    const { status, body } = await ask(target);
    assert.equal(status, 404, target);
    assert.ok(!body.includes("secret\n") && !body.equals(Buffer.from("secret")), target);
    assert.equal(JSON.parse(body.toString()).details[0].reason, "NOT_FOUND");
  }
  for (const target of [
    "/console/../secret.js",
    "/console/%2e%2e/secret.js",
    "/console/notes.txt",
  ]) {
    const { status, body } = await ask(target);
    assert.deepEqual(
      [status, body.toString()],
      [200, page],
      `${target} answers the page, which shows "not found"`,
    );
  }
  for (const target of ["/consoles/", "/secret.js", "//console/", "/CONSOLE/"]) {
    assert.equal((await ask(target)).status, 404, target);
  }
});

test("if the console was not built, the error explains how to build it", async () => {
  const at = await serve(join(folder, "nowhere"));
  const { status, body } = await ask("/console/", { at });
  assert.equal(status, 503);
  const { message, details } = JSON.parse(body.toString());
  assert.equal(details[0].reason, "CONSOLE_NOT_BUILT");
  assert.match(message, /npm run console:build/);
  assert.equal((await ask("/console/assets/a.js", { at })).status, 404);
});
