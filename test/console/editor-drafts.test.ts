// Drafts of the editor: what was typed is found again after a crash, in this browser and another.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { first, placeCaret, untilTexts, withTexts } from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

async function edit(page: Page): Promise<void> {
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
}

test("text that was typed two seconds before the browser was killed is there again", async () => {
  const name = await createInterview(pages.service);
  const page = await pages.open(`/${name}`);
  await edit(page);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await page.getByText("drög geymd hér").waitFor();
  await page.keyboard.type("Nú þá. ");
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // The page does not run any more: nothing that it would do on leaving happens.
  const crashed = page.waitForEvent("crash");
  await page.goto("chrome://crash").catch(() => {});
  await crashed.catch(() => {});
  const again = await page.context().newPage();
  await again.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(again);
  await untilTexts(again, withTexts({ 0: `Jæja. Nú þá. ${first}` }));
  await again.getByText("eru opin aftur").waitFor();
  // The draft can be saved as a version, and is gone then.
  await again.keyboard.press("Control+s");
  await again.getByText("Engar óvistaðar breytingar").waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 2);
  await again.reload();
  await edit(again);
  await untilTexts(again, withTexts({ 0: `Jæja. Nú þá. ${first}` }));
  assert.equal(await again.getByText("eru opin aftur").count(), 0);
  await again.close();
});

test("a draft can be discarded, and the text is that of the version again", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  await edit(page);
  await placeCaret(page, 1, 0);
  await page.keyboard.type("x");
  await page.getByText("drög geymd hér").waitFor();
  await page.reload();
  await edit(page);
  await page.getByRole("button", { name: "Henda drögunum" }).click();
  await untilTexts(page, withTexts({}));
  await edit(page);
  await untilTexts(page, withTexts({}));
});

test("another browser finds the draft on the service, and neither overwrites the other's", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  await edit(page);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Hér. ");
  // The service has the draft after 30 seconds, or when the page of the text is left.
  await page.getByText("drög geymd hér").waitFor();
  await page.locator("nav a").first().click();
  const draft = () => pages.service.call("GET", `/v1alpha1/${name}/draft`);
  await until(async () => (await draft()).status === 200);
  await page.evaluate(
    "new Promise((resolve) => { indexedDB.deleteDatabase('hlust-drafts').onsuccess = resolve; })",
  );
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(page);
  await untilTexts(page, withTexts({ 0: `Hér. ${first}` }));
  const { json } = await draft();
  const saved = await pages.service.call("PUT", `/v1alpha1/${name}/draft`, {
    baseVersion: json.baseVersion,
    content: json.content,
  });
  assert.equal(saved.status, 200);
  await page.keyboard.type("Þar. ");
  await page.getByText("annar vafri á").waitFor({ timeout: 45_000 });
  assert.equal((await draft()).json.etag, saved.json.etag);
});
