// The TypeScript client in a real browser, which loads the client's modules one by one, with only
// the types removed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code } from "@connectrpc/connect";
import type { Page } from "playwright-core";
import { openBrowser } from "../fixtures/open-browser.ts";
import { speak } from "../fixtures/flite.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { finalsOf, openStream, streamingConfig } from "../spec/stream.ts";
import type * as clientPage from "./client-page.ts";
import { openPageServer } from "./page-server.ts";

const sentence = "the weather is cold and dark today";
const opened = new AsyncDisposableStack();
let service: TestService;
let page: Page;
let url: string;
const problems: string[] = [];

before(async () => {
  service = opened.use(await openTestService());
  url = opened.use(await openPageServer(service.address)).address;
  const browser = await openBrowser();
  opened.defer(() => browser.close());
  page = await browser.newPage();
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(`${url}/page`);
});
after(() => opened.disposeAsync());

/** Calls a function of client-page.ts in the page. */
async function inPage<Name extends keyof typeof clientPage>(
  name: Name,
  ...parts: Parameters<(typeof clientPage)[Name]>
): Promise<unknown> {
  const module = '"/test/browser/client-page.ts"';
  return await page.evaluate(
    `import(${module}).then((it) => it.${name}(...${JSON.stringify(parts)}))`,
  );
}

test("live audio is recognized over the browser's WebSocket", async () => {
  const samples = pcmOf(speak(sentence));
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig());
  stream.sendAudio(samples);
  stream.send({ audioContent: "" });
  await stream.closed;
  const [final] = finalsOf(stream.messages);
  assert.match(final?.transcript ?? "", /weather is cold/);

  const call = [{ url, token: service.key }, samples.toString("base64")] as const;
  const results = await inPage("recognize", ...call);
  assert.ok(Array.isArray(results));
  assert.deepEqual(results.at(-1), [final?.transcript, true]);
  assert.deepEqual(results[0]?.[1], false);
});

test("a transcript is created and read back with the browser's fetch", async () => {
  const subject = "Ávarp & 100%";
  const made = await inPage("makeTranscript", { url, token: service.key }, subject);
  const { json } = await service.call("GET", "/v1alpha1/transcripts");
  const [{ name, metadata }] = json.transcripts;
  assert.equal(metadata.subject, subject);
  assert.deepEqual(made, { name, read: name, subject });
});

test("transcripts of any length are read, although browsers receive them as zstd", async () => {
  for (const words of [0, 1, 30_000]) {
    const segments = longSegments(words);
    const description = "x".repeat(10_000);
    const metadata = { fileType: "AUDIO", languageCode: "is-IS", description };
    const draft = { metadata, segments };
    const { json } = await service.call("POST", "/v1alpha1/transcripts", draft);
    const call = [`${url}/v1alpha1/${json.name}`, `Bearer ${service.key}`];
    const read = await page.evaluate(async ([address = "", authorization = ""]) => {
      const answer = await fetch(address, { headers: { authorization } });
      return { encoding: answer.headers.get("content-encoding"), text: await answer.text() };
    }, call);
    assert.equal(read.encoding, "zstd");
    const { json: plain } = await service.call("GET", `/v1alpha1/${json.name}`);
    assert.equal(read.text, JSON.stringify(plain));
  }
});

test("errors have the same codes in the browser", async () => {
  assert.deepEqual(await inPage("failures", { url, token: service.key }), {
    wrongToken: Code.Unauthenticated,
    wrongTokenLive: Code.Unauthenticated,
    missing: Code.NotFound,
    aborted: Code.Canceled,
    badConfigLive: Code.InvalidArgument,
    unreachable: Code.Unavailable,
    unreachableLive: Code.Unavailable,
  });
  assert.deepEqual(problems, []);
});
