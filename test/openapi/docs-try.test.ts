// "Try it" in the API reference: calls with the session of the console.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { cookieOfKey } from "../console/kept-contexts.ts";
import { openBrowser } from "../fixtures/open-browser.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let service: TestService;
let browser: Browser;
/** The page of a user who is signed in: it is large, so the tests share it. */
let signedIn: Awaited<ReturnType<typeof openDocs>>;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "api" });
  browser = await openBrowser();
  signedIn = await openDocs();
});
after(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

/** Opens the page, signed in to the console with `key` unless it is undefined. */
async function openDocs(key: string | undefined = service.key) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  if (key !== "") {
    const cookie = await cookieOfKey(service.address, key, browser.version());
    await context.addCookies([cookie]);
  }
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${service.address}/docs`);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Opens the form of an operation. */
async function tryIt(page: Page, operationId: string): Promise<Locator> {
  const section = page.locator(`section[id="${operationId}"]`);
  await section.getByRole("button", { name: /^Try it: / }).press("Enter");
  await section.locator(".try-panel").getByRole("button", { name: "Send" }).waitFor();
  return section.locator(".try-panel");
}

/** Sends the call, and returns its status, its request and its answer. */
async function send(panel: Locator): Promise<{ status: string; request: string; answer: string }> {
  await panel.getByRole("button", { name: "Send" }).press("Enter");
  await panel
    .locator(".try-status")
    .getByText(/ bytes$/)
    .waitFor();
  const textOf = async (label: string): Promise<string> =>
    (await panel.getByLabel(label, { exact: true }).textContent()) ?? "";
  return {
    status: (await panel.locator(".try-status").textContent()) ?? "",
    request: await textOf("Request"),
    answer: await textOf("Answer"),
  };
}

test("a method is called with the session of the console, and shows request, status and answer", async () => {
  const docs = signedIn;
  const creation = await tryIt(docs.page, "createTranscript");
  await creation.getByText(/^This sends a real request as First key in the account/).waitFor();
  const created = await send(creation);
  assert.match(created.status, /^200 OK, \d+ ms, \d+ bytes$/);
  assert.match(created.request, /^POST \/v1alpha1\/transcripts\n\n\{\n {2}"/);
  const made: { name: string } = JSON.parse(created.answer);
  assert.equal((await service.call("GET", `/v1alpha1/${made.name}`)).status, 200);

  const reading = await tryIt(docs.page, "getTranscript");
  await reading
    .getByRole("textbox", { name: /^transcript/ })
    .fill(made.name.replace("transcripts/", ""));
  const read = await send(reading);
  assert.equal(read.request, `GET /v1alpha1/${made.name}`);
  assert.equal(JSON.parse(read.answer).name, made.name);

  const exporting = await tryIt(docs.page, "exportTranscript");
  await exporting
    .getByRole("textbox", { name: /^transcript/ })
    .fill(made.name.replace("transcripts/", ""));
  await exporting.getByLabel(/^format/).selectOption("SRT");
  await exporting.getByLabel("options.lineChars").fill("30");
  const exported = await send(exporting);
  assert.ok(exported.request.endsWith(":export?format=SRT&options.lineChars=30"), exported.request);
  assert.match(exported.answer, /^1\n00:00:0/);
  await exporting.getByLabel(/^format/).selectOption("DOCX");
  await exporting.getByLabel("options.lineChars").fill("");
  const binary = await send(exporting);
  assert.match(binary.answer, /^\d+ bytes of application\/vnd\.openxml.*Save the file$/);
  const coming = docs.page.waitForEvent("download");
  await exporting.getByRole("link", { name: "Save the file" }).press("Enter");
  assert.match((await coming).suggestedFilename(), /\.docx$/);
  assert.deepEqual(docs.complaints, []);
});

test("a refused call shows the error of the service, and what is required is asked for", async () => {
  const docs = signedIn;
  const panel = await tryIt(docs.page, "getTranscriptDraft");
  await panel.getByRole("button", { name: "Send" }).press("Enter");
  assert.equal(await panel.locator(".try-status").count(), 0, "the id is required");
  await panel.getByRole("textbox", { name: /^transcript/ }).fill("a/b ?");
  const { request, status, answer } = await send(panel);
  assert.equal(request, "GET /v1alpha1/transcripts/a%2Fb%20%3F/draft");
  assert.match(status, /^404 /);
  assert.match(answer, /"message"/);
  // The browser itself reports the answer 404.
  assert.deepEqual(
    docs.complaints.splice(0).map((text) => text.replace(/:.*/, "")),
    ["Failed to load resource"],
  );
});

test("a stream is shown as it comes, until it is stopped", async () => {
  const docs = signedIn;
  await service.call("POST", "/v1alpha1/transcripts", draftOf("í straumi"));
  const panel = await tryIt(docs.page, "watchTranscripts");
  await panel.getByRole("button", { name: "Send" }).press("Enter");
  await panel
    .getByLabel("Answer", { exact: true })
    .getByText(/í straumi/)
    .waitFor();
  await panel.getByRole("button", { name: "Stop" }).press("Enter");
  await panel
    .locator(".try-status")
    .getByText(/^Stopped after /)
    .waitFor();
  assert.deepEqual(docs.complaints, []);
});

test("without a session, the page leads to the console", async () => {
  await using docs = await openDocs("");
  const section = docs.page.locator('section[id="getTranscript"]');
  await section.getByRole("button", { name: /^Try it: / }).press("Enter");
  const link = section.getByRole("link", { name: "Sign in to the console" });
  assert.equal(await link.getAttribute("href"), "console/");
  const button = section.getByRole("button", { name: /^Try it: / });
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  await button.press("Enter");
  assert.equal(await section.locator(".try-panel").isVisible(), false);
  assert.deepEqual(docs.complaints, []);
});

test("live streams, and paths that the contract does not have, have no form", async () => {
  const docs = signedIn;
  const has = (id: string): Promise<number> =>
    docs.page.locator(`section[id="${id}"] .try`).count();
  assert.equal(await has("streamingRecognize"), 0);
  assert.equal(await has("getOpenApi"), 0);
  assert.equal(await has("listTranscripts"), 1);
});

test("the page with an answer fits every screen, and axe finds nothing in it", async () => {
  const docs = signedIn;
  const { page } = docs;
  await send(await tryIt(page, "listTranscripts"));
  await tryIt(page, "updateTranscript");
  for (const width of [320, 600, 820, 1200, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(wide <= width, `${wide} px in ${width} px`);
  }
  // axe takes minutes for all operations and schemas, which are all of the same few kinds.
  await page.evaluate(`(() => {
    const kept = new Set(["listTranscripts", "updateTranscript", "streamingRecognize",
      "getAlignmentJob", "getAlignmentJob_2", "recognize", "getDocs"]);
    for (const section of document.querySelectorAll("section.operation"))
      if (!kept.has(section.id)) section.remove();
    const schemas = document.querySelectorAll("section.schema");
    for (const section of [...schemas].slice(8)) section.remove();
    for (const link of document.querySelectorAll("nav li a"))
      if (!document.getElementById(link.hash.slice(1))) link.closest("li").remove();
  })()`);
  assert.equal(await page.locator("section.operation").count(), 7);
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate<string[]>(
      `axe.run(document, { resultTypes: ["violations"], preload: false }).then(({ violations }) =>
        violations.map(({ id, nodes }) =>
          id + ": " + nodes.map(({ html }) => html.slice(0, 160)).slice(0, 5).join(" | ")))`,
    );
    assert.deepEqual(found, [], colorScheme);
  }
  assert.deepEqual(docs.complaints, []);
});
