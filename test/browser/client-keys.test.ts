// Key pairs that are generated in a real browser. The private key never leaves the browser, and its
// tokens work with every protocol.
import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { after, before, test } from "node:test";
import { Code } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { openBrowser } from "../fixtures/open-browser.ts";
import { signingAlgorithms } from "../../src/client/private-key.ts";
import { noteSecret } from "../spec/secrets.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { scriptedSamples } from "../fault/scripted-recording.ts";
import type * as keyPage from "./key-page.ts";
import { openPageServer, type PageServer } from "./page-server.ts";

const opened = new AsyncDisposableStack();
let service: TestService;
let pages: PageServer;
let page: Page;
/** The URLs of all requests, and all messages sent over WebSockets. */
const addresses: string[] = [];
const frames: string[] = [];
const problems: string[] = [];
const audio = Buffer.from(scriptedSamples([1_000], { pauseMs: 300 }).buffer).toString("base64");

before(async () => {
  service = opened.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  pages = opened.use(await openPageServer(service.address, service.key));
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  const context = await browser.newContext();
  context.on("request", (request) => addresses.push(request.url()));
  page = await context.newPage();
  page.on("websocket", (socket) => {
    addresses.push(socket.url());
    socket.on("framesent", ({ payload }) => frames.push(String(payload)));
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(`${pages.address}/page`);
});
after(() => opened.disposeAsync());

/** Calls a function of key-page.ts in the page. */
async function inPage<Name extends keyof typeof keyPage>(
  name: Name,
  ...parts: Parameters<(typeof keyPage)[Name]>
): Promise<Awaited<ReturnType<(typeof keyPage)[Name]>>> {
  return await page.evaluate<Awaited<ReturnType<(typeof keyPage)[Name]>>>(
    `import("/test/browser/key-page.ts").then((it) => it.${name}(...${JSON.stringify(parts)}))`,
  );
}

/**
 * Returns the secret numbers of a private key, at most 32 bytes of each. The rest of the key's PKCS
 * #8 is also in the public key, or is the same in every key.
 */
function secretsOf(pem: string): Buffer[] {
  const { d, p, q, dp, dq, qi } = createPrivateKey(pem).export({ format: "jwk" });
  return [d, p, q, dp, dq, qi].flatMap((part) =>
    part === undefined ? [] : [Buffer.from(part, "base64url").subarray(0, 32)],
  );
}

/** Whether a text contains any eight consecutive bytes of a secret: raw, in hex or in base64. */
function containsPartOf(secret: Buffer, text: Buffer): boolean {
  for (let at = 0; at + 8 <= secret.length; at += 1) {
    const part = secret.subarray(at, at + 8);
    // The base64 of whole groups of three bytes does not depend on the bytes around them.
    const letters = part.subarray(0, 6);
    const forms = [part, part.toString("hex"), letters.toString("base64")];
    if ([...forms, letters.toString("base64url")].some((form) => text.includes(form))) return true;
  }
  return false;
}

/**
 * Returns everything that the browser has sent: the bytes, and the WebSocket messages without their
 * mask.
 */
function wire(): Buffer {
  return Buffer.concat([pages.sent(), Buffer.from(frames.join("\n"))]);
}

test("a key pair is generated in the page and used with every protocol, and no secret is sent", async () => {
  const keys: keyPage.OwnKey[] = [];
  const where = { url: pages.address, audience: service.address, token: service.key };
  for (const algorithm of [undefined, ...signingAlgorithms]) {
    const key = await inPage("useOwnKey", where, audio, algorithm);
    assert.equal(key.algorithm, algorithm ?? "EdDSA");
    assert.match(key.recognized, /\w+ \w+/, "over a WebSocket");
    assert.equal(key.transcripts, 0, "over fetch, with the saved PEM");
    noteSecret(key.pem.split("\n")[1] ?? "", "credential");
    keys.push(key);
  }
  const { json } = await service.call("GET", "/v1/clientKeys");
  assert.deepEqual(
    json.clientKeys.map(({ keyId }: { keyId: string }) => keyId),
    keys.map(({ keyId }) => keyId).toReversed(),
  );
  assert.ok(frames.some((frame) => frame.includes("audioContent")));
  assert.deepEqual(
    addresses.filter(
      (address) => !address.startsWith("data:") && !address.includes("//127.0.0.1:"),
    ),
    [],
  );
  const sent = wire();
  for (const { pem, algorithm } of keys) {
    const { x, n } = createPublicKey(pem).export({ format: "jwk" });
    assert.ok(sent.includes(x ?? n ?? "?"), "the public key is in the checked bytes");
    const [secret, ...others] = secretsOf(pem);
    assert.ok(secret?.length === 32, algorithm);
    for (const part of [secret, ...others]) assert.ok(!containsPartOf(part, sent), algorithm);
  }
  assert.deepEqual(problems, []);

  const [first, second] = keys;
  assert.ok(first && second);
  await inPage("sendAway", where, first.pem);
  assert.ok(secretsOf(first.pem).every((secret) => containsPartOf(secret, pages.sent())));
  assert.ok(
    secretsOf(first.pem).every((secret) => containsPartOf(secret, Buffer.from(frames.join("\n")))),
  );
  assert.ok(!secretsOf(second.pem).some((secret) => containsPartOf(secret, wire())));
});

test("a browser without Ed25519 generates a key on P-256", async () => {
  assert.equal(await inPage("makeOlderKey"), "ES256");
});

test("a page without a key streams with single-stream tokens from a URL and from a function", async () => {
  const tokenRequests = (): number =>
    addresses.filter((address) => address.endsWith("/stream-token")).length;
  const before = tokenRequests();
  const recognized = await inPage("recognizeWithoutKey", pages.address, audio);
  assert.equal(recognized.length, 3);
  for (const text of recognized) assert.match(text, /^\w+ \w+/);
  assert.equal(tokenRequests() - before, 3, "one token per stream");
  const failure = await inPage("failureWithoutToken", `${pages.address}/v1/nothing`);
  assert.deepEqual(failure, { code: Code.NotFound, isCancelled: true });
});
