// A browser downloads at most 200 kB, compressed and including fonts, before it shows a page; a
// transcript has a typeface of its own, and a player.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draftOf } from "../spec/transcripts.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

const usualMax = 200_000;
const transcriptMax = 225_000;

let pages: TestPages;
/** The name of a transcript. */
let transcript = "";
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  const created = await pages.service.call("POST", "/v1alpha1/transcripts", draftOf("Fundur"));
  transcript = created.json.name;
});
after(() => pages[Symbol.asyncDispose]());

for (const [name, path, key, bytesMax] of [
  ["the sign-in page", () => "/", undefined, usualMax],
  ["the overview", () => "/", "first", usualMax],
  ["the list of transcripts", () => "/transcripts", "first", usualMax],
  ["a transcript", () => `/${transcript}`, "first", transcriptMax],
  ["the jobs page", () => "/jobs", "first", usualMax],
  ["the keys page", () => "/keys", "first", usualMax],
] as const) {
  test(`the first load of ${name} takes at most ${bytesMax} bytes`, async (t) => {
    await using page = await pages.open("/nowhere", key === undefined ? { key } : {});
    // The cache is off, so the browser downloads everything that the page needs.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
    const bytes = new Map<string, number>();
    devtools.on("Network.responseReceived", ({ response }) => {
      const { pathname } = new URL(response.url);
      // API responses depend on the data and are not counted.
      if (/^\/console\/(api|session)/.test(pathname)) return;
      bytes.set(pathname, Number(response.headers["content-length"] ?? Number.NaN));
    });
    await page.goto(`${pages.service.address}/console${path()}`, { waitUntil: "networkidle" });
    const all = bytes.values().reduce((sum, length) => sum + length, 0);
    t.diagnostic(`${all} bytes in ${bytes.size} files`);
    assert.ok(bytes.size > 4);
    // The editor is loaded when someone edits.
    assert.ok(![...bytes.keys()].some((file) => file.includes("/edited-words")));
    assert.ok(all <= bytesMax, JSON.stringify(Object.fromEntries(bytes), undefined, 1));
  });
}
