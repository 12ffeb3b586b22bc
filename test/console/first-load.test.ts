// A browser downloads at most 200 kB, compressed and including fonts, before it shows a page. What
// a user may need next is loaded after that, in time.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { noteSecret } from "../spec/secrets.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTalk } from "./played-page.ts";

const bytesMax = 200_000;

let pages: TestPages;
/** The name of a transcript with sound. */
let transcript = "";
/** The paths of the pages of a share and of a webhook. */
let shared = "";
let webhook = "";
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
  transcript = await createTalk(pages);
  const make = async (path: string, body: object) =>
    (await pages.service.call("POST", path, body)).json;
  const { uri } = await make(`/v1alpha1/${transcript}/shares`, { withMedia: true });
  shared = uri.replace(/^.*\/console/, "");
  const made = await make("/v1/webhooks", { url: "https://hooks.example.org/load" });
  noteSecret(made.secret, "credential");
  webhook = `/${made.webhook.name}`;
});
after(() => pages[Symbol.asyncDispose]());

for (const [name, path, key] of [
  ["the sign-in page", () => "/", undefined],
  ["the overview", () => "/", "first"],
  ["the list of transcripts", () => "/transcripts", "first"],
  ["a transcript", () => `/${transcript}`, "first"],
  ["the examples of a transcript", () => `/${transcript}/examples`, "first"],
  ["a shared transcript", () => shared, undefined],
  ["a webhook", () => webhook, "first"],
  ...[
    "bin",
    "import",
    "jobs",
    "jobs?new",
    "live",
    "vocabulary",
    "keys",
    "programs",
    "webhooks",
    "usage",
    "account",
    "account/settings",
    "operator",
    "help",
  ].map((page) => [`/${page}`, () => `/${page}`, "first"] as const),
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
      // API responses and media depend on the data and are not counted.
      if (/^\/(console\/(api|session)|media\/)/.test(pathname)) return;
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

test("a dialog of the aside is loaded once the page is used, and opens without a download", async () => {
  await using page = await pages.open(`/${transcript}`);
  const edit = page.getByRole("complementary").getByRole("button", { name: "Breyta", exact: true });
  await edit.waitFor();
  const loaded = (): Promise<boolean> =>
    page.evaluate(
      "performance.getEntriesByType('resource').some(({ name }) => name.includes('/details-dialog'))",
    );
  assert.equal(await loaded(), false);
  await page.mouse.move(100, 100);
  await until(loaded);
  await page.context().setOffline(true);
  await edit.click();
  await page.getByRole("dialog").getByLabel("Titill").waitFor();
});
