// The API reference in a real browser: it is complete, loads nothing from other hosts, and is
// readable on any screen, in light and dark colors, and with a screen reader.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../fixtures/open-browser.ts";
import { operationsIn, type OpenApiDocument } from "../../src/transcoding/openapi/document.ts";
import {
  contrast,
  factsOf,
  focusOf,
  longLines,
  printedLook,
  textColors,
  violatePolicy,
} from "./page-facts.ts";
import { openTestService, type TestService } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";

let service: TestService;
let browser: Browser;
let document: OpenApiDocument;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "api" });
  document = JSON.parse(await (await fetch(`${service.address}/openapi.json`)).text());
  // The headless shell would not request the icon of the page.
  browser = await openBrowser([], "full");
});
after(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

/**
 * Opens the page, and records every request that it makes and every error that the browser reports.
 */
async function openDocs(
  options: {
    readonly waitUntil?: "load" | "networkidle";
  } = {},
): Promise<{ page: Page; requests: string[]; complaints: string[] } & AsyncDisposable> {
  const { waitUntil = "load" } = options;
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("requestfailed", (request) => complaints.push(request.url()));
  await page.goto(`${service.address}/docs`, { waitUntil });
  return { page, requests, complaints, [Symbol.asyncDispose]: () => page.close() };
}

test("the page loads nothing from elsewhere and violates no policy", async () => {
  await using docs = await openDocs({ waitUntil: "networkidle" });
  // The browser decides when it fetches the icon.
  const icon = `${service.address}/docs/icon.svg`;
  await until(async () => await Promise.resolve(docs.requests.includes(icon)));
  const paths = docs.requests.map((url) =>
    url.replace(service.address, "").replace(/-[^-.]*(?=\.\w+$)/, ""),
  );
  assert.deepEqual(paths.toSorted(), [
    "/console/assets/inter-latin-wght-normal.woff2",
    "/console/assets/reference.css",
    "/console/assets/reference.js",
    "/console/assets/source-serif-4-latin-wght-normal.woff2",
    "/docs",
    "/docs/icon.svg",
    "/docs/style.css",
  ]);
  assert.deepEqual(docs.complaints, []);
  // The policy is enforced: it refuses an action that the page itself does not take.
  assert.equal(await violatePolicy(docs.page), "img-src");
});

test("the page has every operation and every schema of the document, and every link has a target", async () => {
  await using docs = await openDocs();
  const { ids, links, text } = await factsOf(docs.page);
  assert.equal(new Set(ids).size, ids.length);
  const there = new Set(ids);
  for (const { path, operation } of operationsIn(document)) {
    assert.ok(there.has(operation.operationId), operation.operationId);
    assert.ok(links.includes(`#${operation.operationId}`), operation.operationId);
    assert.ok(text.includes(path), path);
    for (const { source } of operation["x-codeSamples"] ?? [])
      assert.ok(text.includes(source), source);
    const grpc = operation["x-grpc-path"]?.slice(1) ?? "";
    assert.ok(text.includes(grpc), grpc);
  }
  for (const name of Object.keys(document.components.schemas)) {
    assert.ok(there.has(`schema-${name}`), name);
  }
  for (const link of links.filter((link) => link.startsWith("#"))) {
    assert.ok(there.has(link.slice(1)), link);
  }
  assert.deepEqual(
    links.filter((link) => !link.startsWith("#")),
    ["console/", "openapi.json"],
  );
  for (const word of ["WebSocket", "gRPC-Web", "google.cloud.speech.v1.Speech", "1012"]) {
    assert.ok(text.includes(word), word);
  }
});

test("the page fits screens from 320 px to 2560 px without horizontal scrolling or lines of over 110 characters", async () => {
  await using docs = await openDocs();
  for (const width of [320, 360, 600, 768, 820, 1000, 1200, 1440, 1920, 2560]) {
    await docs.page.setViewportSize({ width, height: 900 });
    const facts = await factsOf(docs.page);
    assert.equal(facts.width, width);
    assert.deepEqual(facts.cutOff, [], `${width}`);
    assert.deepEqual(await longLines(docs.page), [], `${width}`);
  }
});

test("headings, landmarks and labels describe the page for screen readers", async () => {
  await using docs = await openDocs();
  const found = await factsOf(docs.page);
  assert.equal(found.levels.filter((level) => level === 1).length, 1);
  for (const [at, level] of found.levels.entries()) {
    assert.ok(level <= (found.levels[at - 1] ?? 0) + 1, `heading ${at + 1} is an h${level}`);
  }
  assert.deepEqual([found.lang, found.title, found.mains], ["en", "Hlust API", 1]);
  assert.equal(new Set(found.navs).size, found.navs.length);
  assert.deepEqual(
    Object.entries(found.faults).filter(([, count]) => count > 0),
    [],
  );
});

test("the page can be used with the keyboard: the skip link comes first, and the focus is visible", async () => {
  await using docs = await openDocs();
  await docs.page.keyboard.press("Tab");
  const skip = await focusOf(docs.page);
  assert.equal(skip.text, "Skip to the content");
  assert.ok(skip.left >= 0 && skip.width > 0);
  assert.notEqual(skip.outlineStyle, "none");
  await docs.page.keyboard.press("Enter");
  await docs.page.waitForURL(({ hash }) => hash === "#main");
});

test("text has a contrast of 4.5 to 1 in light and dark colors", async () => {
  const papers = new Set<string>();
  await using docs = await openDocs();
  for (const colorScheme of ["light", "dark"] as const) {
    await docs.page.emulateMedia({ colorScheme });
    const pairs = await textColors(docs.page);
    assert.ok(pairs.length > 5, `${pairs.length}`);
    for (const { text, ink, paper } of pairs) {
      papers.add(paper);
      const ratio = contrast(ink, paper);
      assert.ok(ratio >= 4.5, `${colorScheme}, ${text}: ${ratio.toFixed(2)} (${ink} on ${paper})`);
    }
  }
  assert.ok(papers.size >= 4, "light and dark differ");
});

test("the printed page has the text without the navigation, and nothing is cut off", async () => {
  await using docs = await openDocs();
  await docs.page.emulateMedia({ media: "print" });
  assert.deepEqual(await printedLook(docs.page), {
    rail: "none",
    paper: "rgb(255, 255, 255)",
    cut: 0,
  });
  const pdf = await docs.page.pdf();
  assert.ok(pdf.length > 50_000);
});
