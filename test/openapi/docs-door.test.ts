// /openapi.json and /docs as clients see them: public, cached and read-only.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { operationsIn, type OpenApiDocument } from "../../src/transcoding/openapi/document.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";

let service: TestService;
const folder = mkdtempSync(join(tmpdir(), "hlust-docs-"));
const paths = ["/openapi.json", "/docs", "/docs/style.css", "/docs/icon.svg"] as const;

before(async () => {
  const rules = join(folder, "rules.yaml");
  writeFileSync(
    rules,
    `http:
  rules:
    - selector: hlust.transcripts.v1alpha1.Transcripts.GetTranscript
      get: /other/{name=transcripts/*}
      additional_bindings:
        - get: /more/{name=transcripts/*}:show
        - get: /records/{name=records/*}
`,
  );
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_HTTP_RULES: rules,
    HLUST_PUBLIC_URL: "https://speech.example.org",
  });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

test("the docs are served without a token, with an ETag for 304", async () => {
  const types = [
    "application/json",
    "text/html; charset=utf-8",
    "text/css; charset=utf-8",
    "image/svg+xml",
  ];
  for (const [at, path] of paths.entries()) {
    const whole = await fetch(`${service.address}${path}`);
    assert.equal(whole.status, 200, path);
    assert.equal(whole.headers.get("content-type"), types[at]);
    assert.equal(whole.headers.get("cache-control"), "no-cache");
    assert.equal(whole.headers.get("x-content-type-options"), "nosniff");
    const etag = whole.headers.get("etag") ?? "";
    assert.match(etag, /^"[\w-]{27}"$/);
    const length = (await whole.arrayBuffer()).byteLength;
    assert.equal(whole.headers.get("content-length"), `${length}`);

    const head = await fetch(`${service.address}${path}`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
    assert.equal(head.headers.get("content-length"), `${length}`);
    assert.equal(head.headers.get("etag"), etag);

    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await fetch(`${service.address}${path}`, {
        headers: { "if-none-match": known },
      });
      assert.deepEqual([again.status, await again.text()], [304, ""], known);
      assert.equal(again.headers.get("etag"), etag);
    }
    const other = await fetch(`${service.address}${path}`, { headers: { "if-none-match": '"x"' } });
    assert.equal((await other.arrayBuffer()).byteLength, length);
  }
});

test("methods other than GET and HEAD get 405", async () => {
  for (const path of paths) {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const answer = await fetch(`${service.address}${path}`, { method });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.headers.get("allow"), "GET, HEAD");
    }
  }
  assert.equal((await fetch(`${service.address}/docs/`)).status, 404);
  assert.equal((await fetch(`${service.address}/docs/docs-door.ts`)).status, 404);
});

test("the docs are served over HTTP/2", async () => {
  const session = connect(service.address);
  for (const method of ["GET", "HEAD"]) {
    const stream = session.request({ ":path": "/openapi.json", ":method": method });
    let length = 0;
    stream.on("data", (chunk: Buffer) => (length += chunk.length));
    const [headers] = await once(stream, "response");
    await once(stream, "close");
    assert.equal(headers[":status"], 200);
    assert.equal(length > 0, method === "GET");
  }
  session.close();
});

test("pages of other sites can read the document, and the page itself loads nothing from elsewhere", async () => {
  const document = await fetch(`${service.address}/openapi.json`);
  assert.equal(document.headers.get("access-control-allow-origin"), "*");
  const page = await fetch(`${service.address}/docs?from=somewhere`);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; /);
  assert.match(policy, /; script-src 'self'; connect-src 'self'; font-src 'self'; require-trusted/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  const text = await page.text();
  assert.doesNotMatch(text, /<script>|<style| style=| on[a-z]+=|javascript:/i);
  assert.deepEqual(text.match(/<script[^>]*>/g)?.length, 1);
  assert.match(
    text,
    /<script type="module" src="console\/assets\/reference-[\w-]+\.js"><\/script>/,
  );
});

test("the document has the service's address and the operator's HTTP rules", async () => {
  const text = await (await fetch(`${service.address}/openapi.json`)).text();
  const document: OpenApiDocument = JSON.parse(text);
  assert.deepEqual(document.servers, [{ url: "https://speech.example.org" }]);
  const places = operationsIn(document)
    .filter(({ operation }) => operation["x-grpc-path"]?.endsWith("/GetTranscript"))
    .map(({ method, path, operation }) => `${method} ${path} ${operation.operationId}`);
  assert.deepEqual(places, [
    "GET /other/transcripts/{transcript} getTranscript",
    "GET /more/transcripts/{transcript}:show getTranscript_2",
    "GET /records/records/{record} getTranscript_3",
  ]);
  const [sample] = document.paths["/other/transcripts/{transcript}"]?.get?.["x-codeSamples"] ?? [];
  assert.match(
    sample?.source ?? "",
    /^curl https:\/\/speech\.example\.org\/other\/transcripts\/[0-9a-f-]{36} \\\n/,
  );
  // A path that does not match the examples of the contract has no examples.
  const { get: moved } = document.paths["/records/records/{record}"] ?? {};
  assert.ok(moved);
  assert.equal(moved["x-codeSamples"], undefined);
  const page = await (await fetch(`${service.address}/docs`)).text();
  for (const name of ["getTranscript", "getTranscript_2", "getTranscript_3"])
    assert.ok(page.includes(`<span>${name}</span>`), name);
});

test("a worker serves no docs and no console", async () => {
  await using worker = await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "worker" });
  for (const path of [...paths, "/", "/console", "/console/", "/console/session"])
    assert.equal((await fetch(`${worker.address}${path}`)).status, 404, path);
});
