// Media that is an HTML page, an SVG image or a polyglot file. The browser treats it as data, and
// no script in it runs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { openTestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3 } from "../fixtures/open-test-s3.ts";
import type { TestService } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { createInterview } from "./edited-transcript.ts";
import { openTestPages, openUnwatched, type TestPages } from "./open-test-pages.ts";

/**
 * A script that shows in several ways that it has run: with a request, a dialog, the title and a
 * message.
 */
const script = `fetch("/ran"); alert("ran"); document.title = "ran"; top.postMessage("ran", "*");`;
const html = `<!doctype html><title>Upptaka</title><img src=x onerror='${script}'><script>${script}</script>`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'><script>${script}</script></svg>`;

const hostile: readonly (readonly [what: string, type: string, bytes: string])[] = [
  ["a page", "text/html", html],
  ["a picture with a script", "image/svg+xml", svg],
  [
    "a page in XML",
    "application/xhtml+xml",
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
  ],
  ["a script", "text/javascript", script],
  ["a page that begins as MP3", "text/html", `ID3\u0003${html}`],
  ["a page that begins as WAVE", "text/html", `RIFF\u0024\0\0\0WAVEfmt ${html}`],
  ["a picture that begins as MP4", "image/svg+xml", `\0\0\0\u0018ftypmp42${svg}`],
  [
    "a page that begins as Matroska",
    "text/html",
    `\u001a\u0045\u00df\u00a3\u0093\u0042\u0082webm${html}`,
  ],
  ["a page that begins as Ogg", "text/html", `OggS\0\u0002${html}`],
];

/** Collects the effects of scripts in a page, and in pages that it opens. */
function watch(page: Page): { readonly ran: string[] } {
  const ran: string[] = [];
  page.context().on("request", (request) => {
    if (new URL(request.url()).pathname === "/ran") ran.push("request");
  });
  const seen = (opened: Page) => {
    opened.on("dialog", (dialog) => {
      ran.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  };
  seen(page);
  page.context().on("page", seen);
  return { ran };
}

/** Uploads bytes as the media of a transcript. Returns the transcript's name and the signed URL. */
async function upload(
  service: TestService,
  [what, type, bytes]: (typeof hostile)[number],
): Promise<{ readonly name: string; readonly uri: string }> {
  const name = await createInterview(service, { metadata: { subject: `${what} ${svg}` } });
  const { json } = await service.call("POST", "/v1alpha1/initupload", { resourceName: name });
  const put = await fetch(json.storageSignedUrl, {
    method: "PUT",
    body: Buffer.from(bytes, "latin1"),
    headers: { "content-type": type },
  });
  assert.ok(put.ok, `${put.status}`);
  await until(async () => (await uriOf(service, name)) !== "");
  return { name, uri: await uriOf(service, name) };
}

async function uriOf(service: TestService, name: string): Promise<string> {
  return (await service.call("GET", `/v1alpha1/${name}`)).json.uri;
}

/** Opens an address, and waits until it is shown or downloaded. */
async function open(page: Page, uri: string): Promise<"shown" | "saved"> {
  const saved = page.waitForEvent("download").then(
    () => "saved" as const,
    () => "saved" as const,
  );
  const shown = page.goto(uri, { waitUntil: "load" }).then(
    () => "shown" as const,
    () => saved,
  );
  return await Promise.race([shown, saved]);
}

/** Opens a page without a policy on the service's origin, and embeds an address in every way. */
async function embed(page: Page, address: string, uri: string): Promise<void> {
  const at = `${address}/embeds`;
  const tags = ["iframe src", "embed src", "object data", "img src", "audio src", "video src"];
  const body = tags.map((tag) => `<${tag}="${uri}"></${tag.split(" ")[0]}>`).join("");
  await page.route(at, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(at, { waitUntil: "load" });
  await page.evaluate(`new Promise((go) => { const tag = document.createElement("script");
    tag.src = ${JSON.stringify(uri)}; tag.onload = tag.onerror = go; document.body.append(tag); })`);
}

describe("with media on disk", () => {
  let pages: TestPages;
  before(async () => {
    pages = await openTestPages({ HLUST_ROLE: "api" });
  });
  after(() => pages[Symbol.asyncDispose]());

  test("no script runs at the signed URL of media, or in a page that embeds it", async () => {
    await checkOpened(pages, hostile);
  });

  test("the transcript's page shows only text, and saves the file with a harmless extension", async () => {
    const { name } = await upload(pages.service, hostile[1] ?? ["", "", ""]);
    await using page = await pages.open(`/${name}`);
    const { ran } = watch(page);
    await page.getByRole("heading", { level: 1, name: "<script>" }).waitFor();
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Sækja: Upptaka" }).press("Enter");
    assert.match((await coming).suggestedFilename(), /\.bin$/);
    assert.deepEqual(ran, []);
  });
});

// With S3 the bucket delivers the bytes, with the type and disposition that the service signs.
test("no script runs in media in S3", async () => {
  await using s3 = await openTestS3();
  const { settings } = await openTestBucket(s3);
  await using pages = await openTestPages({
    HLUST_ROLE: "api",
    S3_BUCKET: settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  });
  await checkOpened(
    pages,
    hostile.filter(([, , bytes]) => bytes === html || bytes === svg || bytes.startsWith("ID3")),
  );
});

async function checkOpened(pages: TestPages, all: typeof hostile): Promise<void> {
  const page = await openUnwatched(await pages.open("/nowhere"));
  const { ran } = watch(page);
  for (const media of all) {
    const { uri } = await upload(pages.service, media);
    const how = await open(page, uri);
    // Only files that begin like media are shown, in a player.
    assert.equal(how, media[0].includes("begins as") ? "shown" : "saved", media[0]);
    await embed(page, pages.service.address, uri);
    assert.deepEqual(ran, [], media[0]);
  }
}
