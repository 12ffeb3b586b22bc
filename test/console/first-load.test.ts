// A browser downloads at most 200 kB, compressed and including fonts, before it shows a page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

const bytesMax = 200_000;

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(() => pages[Symbol.asyncDispose]());

for (const [name, path, key] of [
  ["the sign-in page", "/", undefined],
  ["the overview", "/", "first"],
  ["the list of transcripts", "/transcripts", "first"],
  ["the jobs page", "/jobs", "first"],
  ["the keys page", "/keys", "first"],
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
    await page.goto(`${pages.service.address}/console${path}`, { waitUntil: "networkidle" });
    const all = bytes.values().reduce((sum, length) => sum + length, 0);
    t.diagnostic(`${all} bytes in ${bytes.size} files`);
    assert.ok(bytes.size > 4);
    assert.ok(all <= bytesMax, JSON.stringify(Object.fromEntries(bytes), undefined, 1));
  });
}
