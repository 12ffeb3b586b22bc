// The end of a session while a text is edited: what was typed stays, and no one else gets it. In
// Chromium and the real service.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  first,
  openEditing,
  placeCaret,
  second,
  typeAsStep,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
let annasKey = "";
before(async () => {
  pages = parts.use(await openTestPages());
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  const { status, json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Anna",
    scopes: ["transcripts.read", "transcripts.write"],
  });
  assert.equal(status, 200, JSON.stringify(json));
  annasKey = json.secret;
});
after(() => parts.disposeAsync());

const keyField = (page: Page) => page.getByLabel("API-lykill", { exact: true });

/** Ends every session, as an operator or another browser of the user can. */
async function endSessions(page: Page): Promise<void> {
  await db.deleteFrom("session").execute();
  // A node accepts the session for up to half a second more, until it reads the row again.
  const status = `fetch("/console/settings", { headers: { "x-hlust-console": "1" } }).then((answer) => answer.status)`;
  await until(async () => (await page.evaluate(status)) === 401);
}

async function signIn(page: Page, key: string): Promise<void> {
  await keyField(page).fill(key);
  await page.keyboard.press("Enter");
  await keyField(page).waitFor({ state: "detached" });
}

test("a session that ends while typing: after signing in again, the text, its undo and its saving go on", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^401 (GET|POST|PUT) /);
  await placeCaret(page, 0, 0);
  await typeAsStep(page, "Jæja. ");
  await endSessions(page);
  await typeAsStep(page, "Sko. ");
  await page.keyboard.press("Control+s");
  await page.getByText("haltu áfram þar sem frá var horfið").waitFor();
  await signIn(page, pages.service.key);
  await untilTexts(page, withTexts({ 0: `Jæja. Sko. ${first}` }));
  assert.deepEqual(await caretOf(page), { paragraph: 0, offset: 11 });
  await typeAsStep(page, "Nú. ");
  for (const text of ["Jæja. Sko. ", "Jæja. ", ""]) {
    await page.keyboard.press("Control+z");
    await untilTexts(page, withTexts({ 0: `${text}${first}` }));
  }
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});

test("signing in again in another tab brings the text back, and the draft goes to the service", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^401 (GET|POST|PUT) /);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await endSessions(page);
  await page.keyboard.press("Control+s");
  await keyField(page).waitFor();
  const other = await page.context().newPage();
  await other.goto(new URL("/console/", pages.service.address).href);
  await signIn(other, pages.service.key);
  await page.bringToFront();
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  await placeCaret(page, 0, 6);
  await page.keyboard.type("Sko. ");
  await page.getByText("drög geymd hér").waitFor();
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  await other.close();
});

/**
 * Signs in as another user in a new tab of the same browser, as the sign-in page does. The tab
 * shows no page of the console, whose lists might be loading when the user changes.
 */
async function signInElsewhere(page: Page, key: string): Promise<void> {
  const other = await page.context().newPage();
  await other.goto(new URL("/healthz", pages.service.address).href);
  const status = await other.evaluate(`fetch("/console/session", {
    method: "POST",
    headers: { "x-hlust-console": "1", "content-type": "application/json" },
    body: ${JSON.stringify(JSON.stringify({ apiKey: key }))},
  }).then((answer) => answer.status)`);
  assert.equal(status, 200);
  await other.close();
}

/** Returns the status of a request for the draft of a key, and the draft. */
async function draftOf(name: string, key: string) {
  const authorization = `Bearer ${key}`;
  const path = `/v1alpha1/${name}/draft`;
  return await pages.service.call("GET", path, undefined, { authorization });
}

test("another user who signs in in another tab neither sees nor overwrites the draft", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^409 (POST|PUT) /);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await page.getByText("drög geymd hér").waitFor();
  await signInElsewhere(page, annasKey);
  await page.keyboard.type("Sko. ");
  // The service refuses to save for another user than the one who typed.
  await page.keyboard.press("Control+s");
  await page
    .locator(".account-menu")
    .getByText(/^Anna\b/)
    .waitFor();
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor({ state: "detached" });
  assert.equal((await versionsOf(pages.service, name)).length, 1);
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  await untilTexts(page, withTexts({}));
  await placeCaret(page, 1, 0);
  await page.keyboard.type("Nú. ");
  await page.getByText("drög geymd hér").waitFor();
  // A text that is left has its draft on the service.
  await page.locator("nav a").first().click();
  await until(async () => (await draftOf(name, annasKey)).status === 200);
  assert.equal((await draftOf(name, pages.service.key)).status, 404);
  // No list of a page is loading when the user changes: the service would refuse it.
  await page.goto("about:blank");
  await signInElsewhere(page, pages.service.key);
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await untilTexts(page, withTexts({ 0: `Jæja. Sko. ${first}` }));
  await page.goto("about:blank");
  await signInElsewhere(page, annasKey);
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await untilTexts(page, withTexts({ 1: `Nú. ${second}` }));
});

/** Signs out with one text that is not saved, and returns the question about it. */
async function signOutWithDraft(page: Page) {
  await page.getByRole("button", { name: "Skrá út" }).click();
  const question = page.getByRole("dialog", { name: "Óvistaðar breytingar" });
  await question.getByText("Breytingar á 1 texta hafa ekki verið vistaðar").waitFor();
  return question;
}

async function edit(page: Page, name: string): Promise<void> {
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
}

test("signing out with unsaved changes asks: they are kept by the service, and found by the next sign-in", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  const question = await signOutWithDraft(page);
  await checkLooks(page, "sign-out", [{ size: "phone", language: "is", theme: "dark" }]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await question.getByRole("button", { name: "Vera áfram" }).click();
  // The caret is where it was, after the button and after the key.
  const text = page.locator("[contenteditable=true]:focus");
  await text.waitFor();
  await page.keyboard.type("Nú. ");
  await untilTexts(page, withTexts({ 0: `Jæja. Nú. ${first}` }));
  await signOutWithDraft(page);
  await page.keyboard.press("Escape");
  await text.waitFor();
  await page.keyboard.type("Sko. ");
  await untilTexts(page, withTexts({ 0: `Jæja. Nú. Sko. ${first}` }));
  await page.getByRole("button", { name: "Skrá út" }).click();
  await question.getByRole("button", { name: "Geyma drögin og skrá út" }).click();
  await keyField(page).waitFor();
  assert.equal((await draftOf(name, pages.service.key)).status, 200);
  const left = `indexedDB.databases().then((all) => all.length)`;
  assert.equal(await page.evaluate(left), 0, "the browser has kept a draft");
  await signIn(page, pages.service.key);
  await edit(page, name);
  await untilTexts(page, withTexts({ 0: `Jæja. Nú. Sko. ${first}` }));
});

test("signing out can discard the changes, also those on the service", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  // A text that is left has its draft on the service, and is asked about too.
  await page.locator("nav a").first().click();
  await until(async () => (await draftOf(name, pages.service.key)).status === 200);
  const question = await signOutWithDraft(page);
  await question.getByRole("button", { name: "Henda breytingunum og skrá út" }).click();
  await keyField(page).waitFor();
  assert.equal((await draftOf(name, pages.service.key)).status, 404);
  await signIn(page, pages.service.key);
  await edit(page, name);
  await untilTexts(page, withTexts({}));
});

test("signing out keeps both of two drafts that were written apart, and discards only this browser's", async () => {
  for (const [button, own] of [
    ["Geyma drögin og skrá út", 1],
    ["Henda breytingunum og skrá út", 0],
  ] as const) {
    const name = await createInterview(pages.service);
    await using page = await openEditing(pages, name);
    await placeCaret(page, 0, 0);
    await page.keyboard.type("Hér. ");
    await page.getByText("drög geymd hér").waitFor();
    // The service has not received the draft when the page is left in this way.
    await page.goto("about:blank");
    await using other = await openEditing(pages, name);
    await placeCaret(other, 0, 0);
    await other.keyboard.type("Þar. ");
    await other.locator("nav a").first().click();
    await until(async () => (await draftOf(name, pages.service.key)).status === 200);
    await page.goto(new URL("/console/", pages.service.address).href);
    const question = await signOutWithDraft(page);
    await question.getByRole("button", { name: button }).click();
    await keyField(page).waitFor();
    await signIn(page, pages.service.key);
    await edit(page, name);
    await untilTexts(page, withTexts({ 0: `Þar. ${first}` }));
    const note = page.locator(".note").filter({ hasText: "Önnur drög að textanum" });
    if (own === 0) {
      assert.equal(await note.count(), 0);
      continue;
    }
    await note.getByRole("button", { name: "Opna þau í staðinn" }).click();
    await untilTexts(page, withTexts({ 0: `Hér. ${first}` }));
  }
});
