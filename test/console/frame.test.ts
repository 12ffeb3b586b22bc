// The frame of every page: the menu, language, theme and accounts, and what is shown when the
// service is unavailable.
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
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
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

test("every menu entry opens a page with its title", async () => {
  await using page = await pages.open("/");
  for (const name of ["Uppskriftir", "Verk", "Beint", "Orðaforði", "Lyklar", "Yfirlit"]) {
    await page.getByRole("navigation").getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    assert.equal(await page.title(), `${name} · Hlust`);
  }
});

test("a long name of an account without a space stays in its column", async () => {
  const { json } = await pages.service.call("GET", "/v1/account");
  await pages.service.call("PATCH", "/v1/account", { displayName: "Þjóðskjalasafnið".repeat(6) });
  await using page = await pages.open("/");
  await page.locator(".account-name").waitFor();
  const beyond = await page.evaluate<number>(`(() => {
    const range = new Range();
    range.selectNodeContents(document.querySelector(".account-name"));
    const column = document.querySelector(".foot").getBoundingClientRect();
    return range.getBoundingClientRect().right - column.right;
  })()`);
  await pages.service.call("PATCH", "/v1/account", { displayName: json.displayName });
  assert.ok(beyond <= 0, `${beyond} px beyond the column`);
});

test("the menu is in a landmark, and all its links are large enough to press", async () => {
  await using page = await pages.open("/");
  await page.getByRole("banner").getByRole("link", { name: "Hlust" }).waitFor();
  const links = page.locator(".rail a, .foot a");
  for (const link of await links.all()) {
    const { width = 0, height = 0 } = (await link.boundingBox()) ?? {};
    const text = await link.innerText();
    assert.ok(width >= 24 && height >= 24, `${text} is ${width} by ${height} px`);
  }
  const account = page.locator(".account-menu").getByRole("link", { name: "· Reikningur" });
  await account.click();
  await page.locator('.account-menu a[aria-current="page"]').waitFor();
});

test("the frame fits every size, language and theme; a page fills the screen of a phone", async () => {
  await using page = await pages.open("/nowhere");
  await page.getByRole("heading", { level: 1, name: "Hér er engin síða" }).waitFor();
  await checkLooks(page, "nowhere", someLooks);
  await show(page, { size: "phone", language: "is", theme: "light" });
  const main = (await page.locator("main").boundingBox()) ?? assert.fail("no page");
  const menu = (await page.getByRole("navigation").boundingBox()) ?? assert.fail("no menu");
  assert.ok(main.y + main.height >= menu.y, "the page reaches down to the menu");
  assert.equal(Math.round(menu.y + menu.height), 844);
  // The account, the sign-out button and the language are at the top, however long the page is.
  const out = page.getByRole("button", { name: "Skrá út" });
  assert.equal(await out.isVisible(), false);
  await page.getByRole("button", { name: "reikningur, tungumál og útlit" }).click();
  const last =
    (await page.getByLabel("Útlit").boundingBox()) ?? assert.fail("no choice of a theme");
  const below = (await page.locator("main").boundingBox()) ?? assert.fail("no page");
  assert.ok(last.y + last.height <= below.y && below.y < 420, `${below.y}`);
  assert.ok(await out.isVisible());
  await page.setViewportSize({ width: 320, height: 640 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);

  // With forced colors, selected elements use the user's color.
  await page.emulateMedia({ forcedColors: "active" });
  await page.getByRole("link", { name: "Verk" }).click();
  await page.getByRole("button", { name: "Ný uppskrift" }).waitFor();
  const [selected, ...grounds] = await page.evaluate<string[]>(`(() => {
    const selected = document.body.appendChild(document.createElement("i"));
    selected.style.cssText = "forced-color-adjust: none; background: Highlight";
    return [selected, ...document.querySelectorAll("nav a[aria-current], .button.primary")]
      .map((element) => getComputedStyle(element).backgroundColor);
  })()`);
  assert.deepEqual(grounds, [selected, selected]);
});

test("the keyboard can skip the menu, and opening a page moves the focus to its title", async () => {
  await using page = await pages.open("/nowhere");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.activeElement.id"), "content");
  await page.getByRole("link", { name: "Lyklar" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Lyklar" }).waitFor();
  await until(async () => (await page.evaluate("document.activeElement.tagName")) === "H1");
});

test("signing out removes everything except language and theme, even in other tabs", async () => {
  await using page = await pages.open("/nowhere");
  await page.getByLabel("Útlit").selectOption("dark");
  await page.getByLabel("Tungumál").selectOption("en");
  const tab = await page.context().newPage();
  await tab.goto(`${pages.service.address}/console/jobs`);
  await tab.getByRole("button", { name: "New transcript" }).first().click();
  const file = { name: "Confidential.wav", mimeType: "audio/wav", buffer: toneWav([3]) };
  await tab.locator(".new-job input[type=file]").setInputFiles(file);
  // The upload never ends, so the browser asks for confirmation before the page is left. Playwright
  // accepts.
  await tab.route("**/v1alpha1/uploads/**", () => undefined);
  const sent = tab.waitForRequest("**/v1alpha1/uploads/**");
  await tab.getByRole("button", { name: "Transcribe" }).click();
  await sent;
  await tab.evaluate(`addEventListener("pagehide", () => {
    sessionStorage.setItem("left", document.querySelector("#console").innerHTML);
  })`);
  await page.getByRole("button", { name: "Sign out" }).click();
  // The upload of the other tab would be lost.
  await page.getByRole("button", { name: "Discard and sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/console/");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  await tab.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  assert.equal(
    await tab.evaluate("sessionStorage.getItem('left')"),
    "",
    "the page is emptied immediately",
  );
  assert.equal(new URL(tab.url()).pathname, "/console/");
  // This event occurs when the browser shows a page from its back/forward cache.
  const reloaded = tab.waitForRequest("**/console/");
  await tab.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`);
  await reloaded;
  assert.deepEqual(await page.context().cookies(), []);
});

/**
 * Opens a page in the first account of a user who is a member of two accounts. `email` must be
 * unique.
 */
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

test("a user of several accounts switches between them and sees only the data of the current one", async () => {
  await using page = await openInTwo("/nowhere", "gudrun@example.org");
  await page.locator(".page-head .sub").getByText("Fréttastofan").waitFor();
  await page.getByLabel("Reikningur").selectOption({ label: "Héraðsskjalasafnið" });
  await page.locator(".page-head .sub").getByText("Héraðsskjalasafnið").waitFor();
  assert.equal(await page.locator("main").getByText("Fréttastofan").count(), 0);
});

test("a file chosen in one account is not sent after the session has switched to another account", async () => {
  await using page = await openInTwo("/nowhere", "dora@example.org");
  expectProblems(page, /^409 POST .*initupload$/);
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
  const requested = page.waitForRequest(/initupload$/);
  await page.getByRole("button", { name: "Skrifa upp" }).click();
  await requested;
  await page.getByLabel("Reikningur").selectOption({ label: "Héraðsskjalasafnið" });
  await page.getByRole("heading", { level: 2, name: /verk enn/ }).waitFor();
  const refused = page.waitForResponse(/initupload$/);
  held.resolve();
  assert.equal((await refused).status(), 409);
  // The file is uploaded only in the account in which it was chosen.
  const row = page.getByRole("listitem").filter({ hasText: "Trúnaðarsamtal" });
  assert.equal(await row.count(), 0);
  await page.getByLabel("Reikningur").selectOption({ label: "Fréttastofan" });
  await row.first().waitFor();
});

test("a tab that missed a switch of accounts changes nothing, and then shows the new account", async () => {
  await using page = await openInTwo("/nowhere", "jorunn@example.org");
  expectProblems(page, /^409 POST .*members$/, /^429 GET \/console\/session$/);
  await page.getByRole("link", { name: "jorunn@example.org" }).click();
  await page.getByRole("button", { name: "Bjóða" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Netfang").fill("gestur@example.org");
  const other = await page.context().newPage();
  await other.addInitScript("BroadcastChannel.prototype.postMessage = () => {}");
  await other.goto(`${pages.service.address}/console/`);
  await other.getByLabel("Reikningur").selectOption({ label: "Héraðsskjalasafnið" });
  await other.locator(".page-head .sub").getByText("Héraðsskjalasafnið").waitFor();

  await page.route("**/console/session", (route) => route.fulfill({ status: 429, body: "{}" }));
  await dialog.getByRole("button", { name: "Bjóða" }).click();
  await dialog.getByText("Í öðrum flipa var skipt um reikning").waitFor();
  await page.unroute("**/console/session");
  await dialog.getByRole("button", { name: "Bjóða" }).click();
  await page.getByRole("heading", { level: 1, name: "Héraðsskjalasafnið" }).waitFor();
  assert.equal(await dialog.count(), 0);
  const invited = db.selectFrom("member").where("email", "=", "gestur@example.org");
  assert.deepEqual(await invited.selectAll().execute(), []);
});

test("a lost network is shown, and the page is refetched when the network is back", async () => {
  await using page = await pages.open("/");
  expectProblems(page, /^net::ERR_FAILED GET/);
  await page.getByRole("heading", { name: "Byrjaðu hér" }).waitFor();
  const banner = page.getByText("Ekkert samband við þjónustuna.");
  const top = async () => (await page.getByRole("heading", { level: 1 }).boundingBox())?.y;
  const before = await top();
  await page.context().setOffline(true);
  await banner.waitFor();
  assert.equal(await top(), before, "the banner does not push the page");
  const requested = page.waitForRequest((request) => request.url().endsWith("/v2beta1/models"));
  await page.context().setOffline(false);
  await requested;
  await banner.waitFor({ state: "detached" });

  // The browser has a network, but the service is unavailable.
  await page.route("**/*", (route) => route.abort());
  await banner.waitFor();
  await page.unroute("**/*");
  await banner.waitFor({ state: "detached" });
});

test("an error while reading the session is shown and can be retried", async () => {
  await using page = await pages.open("/nowhere");
  expectProblems(page, /^429 GET \/console\/session$/);
  await page.route("**/console/session", (route) => route.fulfill({ status: 429, body: "{}" }));
  await page.reload();
  await page.getByRole("alert").waitFor();
  await page.unroute("**/console/session");
  await page.getByRole("button", { name: "Reyna aftur" }).click();
  await page.getByRole("heading", { level: 1, name: "Hér er engin síða" }).waitFor();
});
