// What every page of the console stands in: the menu, languages, looks, accounts, and what is said when the service is gone.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { createSignInToken, signInLink } from "../../src/auth/sign-in-token.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { toneWav } from "../jobs-fixture.ts";
import { addMember } from "../signed-in.ts";
import { until } from "../until.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
before(async () => {
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api" }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
});
after(() => parts.disposeAsync());

test("every place of the menu is a page with its title", async () => {
  const page = await pages.open("/");
  for (const name of ["Uppskriftir", "Verk", "Beint", "Lyklar", "Yfirlit"]) {
    await page.getByRole("navigation").getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    assert.equal(await page.title(), `${name} · Hlust`);
  }
});

test("the console is looked at in every size, language and theme; a page fills a phone", async () => {
  const page = await pages.open("/nowhere");
  await page.getByRole("heading", { level: 1, name: "Hér er engin síða" }).waitFor();
  await checkLooks(page, "nowhere", someLooks);
  await show(page, { size: "phone", language: "is", theme: "light" });
  const main = (await page.locator("main").boundingBox()) ?? assert.fail("no page");
  const foot = (await page.locator("footer").boundingBox()) ?? assert.fail("no foot");
  const menu = (await page.getByRole("navigation").boundingBox()) ?? assert.fail("no menu");
  assert.ok(main.y + main.height >= menu.y, "the page reaches down to the menu");
  assert.ok(foot.y >= main.y + main.height, "who one is comes after the page");
  assert.equal(Math.round(menu.y + menu.height), 844);
  await page.getByRole("button", { name: "Skrá út" }).scrollIntoViewIfNeeded();
  const out = (await page.getByRole("button", { name: "Skrá út" }).boundingBox()) ?? assert.fail();
  assert.ok(out.y + out.height <= menu.y, "the menu covers nothing at the end");
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
});

test("the keyboard gets past the menu, and to the title of each page that it goes to", async () => {
  const page = await pages.open("/nowhere");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "content");
  await page.getByRole("link", { name: "Lyklar" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Lyklar" }).waitFor();
  await until(async () => (await page.evaluate("document.activeElement.tagName")) === "H1");
});

test("language and look stay when somebody signs out, and the session is over in other tabs at once", async () => {
  const page = await pages.open("/nowhere");
  await page.getByLabel("Útlit").selectOption("dark");
  await page.getByLabel("Tungumál").selectOption("en");
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await tab.getByRole("heading", { level: 1, name: "There is no page here" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await tab.getByText("Your session has ended.").waitFor();
  assert.deepEqual(await page.context().cookies(), []);
});

/** A page of somebody who is in two accounts, in the first of them; `email` is theirs alone. */
async function openInTwo(path: string, email: string): Promise<Page> {
  const accounts = await Promise.all(
    ["Fréttastofan", "Héraðsskjalasafnið"].map(async (displayName) => {
      const accountId = newId();
      await db.insertInto("account").values({ id: accountId, display_name: displayName }).execute();
      const memberId = await addMember(db, accountId, "OWNER", email);
      await db
        .updateTable("member")
        .set({ issuer: "https://login.example", subject: email })
        .where("id", "=", memberId)
        .execute();
      return { accountId, memberId };
    }),
  );
  const [first] = accounts;
  assert.ok(first);
  const link = signInLink(pages.service.address, await createSignInToken(db, first));
  const page = await pages.open(path, { key: undefined });
  await page.goto(link);
  await page.getByLabel("Reikningur").waitFor();
  return page;
}

test("whoever is in several accounts goes from one to another, and sees nothing of the one in the other", async () => {
  const page = await openInTwo("/nowhere", "gudrun@example.org");
  await page.locator(".page-head .sub").getByText("Fréttastofan").waitFor();
  await page.getByLabel("Reikningur").selectOption({ label: "Héraðsskjalasafnið" });
  await page.locator(".page-head .sub").getByText("Héraðsskjalasafnið").waitFor();
  assert.equal(await page.locator("main").getByText("Fréttastofan").count(), 0);
});

test("a file that was chosen in one account is not sent to the other that the session has gone to meanwhile", async () => {
  const page = await openInTwo("/nowhere", "dora@example.org");
  await page.getByRole("navigation").getByRole("link", { name: "Verk" }).click();
  await page.getByRole("button", { name: "Ný uppskrift" }).first().click();
  const buffer = toneWav([3]);
  const file = { name: "Trúnaðarsamtal.wav", mimeType: "audio/wav", buffer: Buffer.from(buffer) };
  await page.locator(".new-job input[type=file]").setInputFiles(file);
  const held = Promise.withResolvers<void>();
  await page.route(/initupload$/, async (route) => {
    await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest(/initupload$/);
  await page.getByRole("button", { name: "Skrifa upp" }).click();
  await asked;
  await page.getByLabel("Reikningur").selectOption({ label: "Héraðsskjalasafnið" });
  await page.getByRole("heading", { level: 2, name: /verk enn/ }).waitFor();
  const checked = page.waitForResponse(/transcriptjob:submit$/);
  held.resolve();
  await checked;
  // Back where it was chosen it is on its way, and nowhere before.
  const row = page.getByRole("listitem").filter({ hasText: "Trúnaðarsamtal" });
  assert.equal(await row.count(), 0);
  await page.getByLabel("Reikningur").selectOption({ label: "Fréttastofan" });
  await row.first().waitFor();
});

test("while the network is gone it is said; when it is back what is shown is asked for again", async () => {
  const page = await pages.open("/");
  await page.getByRole("heading", { name: "Byrjaðu hér" }).waitFor();
  const banner = page.getByText("Ekkert samband við þjónustuna.");
  await page.context().setOffline(true);
  await banner.waitFor();
  const asked = page.waitForRequest((request) => request.url().endsWith("/v2beta1/models"));
  await page.context().setOffline(false);
  await asked;
  await banner.waitFor({ state: "detached" });

  // The browser has its network, and the service is away.
  await page.route("**/*", (route) => route.abort());
  await banner.waitFor();
  await page.unroute("**/*");
  await banner.waitFor({ state: "detached" });
});

test("a service that does not say who is signed in is told of, and asked again", async () => {
  const page = await pages.open("/nowhere");
  await page.route("**/console/session", (route) => route.fulfill({ status: 429, body: "{}" }));
  await page.reload();
  await page.getByRole("alert").waitFor();
  await page.unroute("**/console/session");
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await page.getByRole("heading", { level: 1, name: "Hér er engin síða" }).waitFor();
});
