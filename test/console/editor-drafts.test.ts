// Drafts of the editor: what was typed is found again after a crash, in this browser and another.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { setAccountLimits } from "../../src/accounts/set-account-limits.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import { first, placeCaret, second, untilTexts, withTexts } from "./edited-page.ts";
import {
  changeElsewhere,
  createInterview,
  segmentsOf,
  turns,
  versionsOf,
} from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
before(async () => {
  pages = parts.use(await openTestPages());
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
});
after(() => parts.disposeAsync());

/** Sets how often the account may call the service, and waits until this is so. */
async function limit(requestsPerMinute: number | null): Promise<void> {
  const { account_id: account } = await db
    .selectFrom("api_key")
    .select("account_id")
    .executeTakeFirstOrThrow();
  const operator = { actor: "operator", origin: { address: "", requestId: "" } };
  await setAccountLimits(db, operator, account, { requestsPerMinute });
  const status = requestsPerMinute === null ? 200 : 429;
  await until(async () => (await pages.service.call("GET", "/v1/account")).status === status);
}

const addressOf = (name: string) => new URL(`/console/${name}`, pages.service.address).href;

/** Types at the start of the text in a browser, and closes the page when its disk has the draft. */
async function leaveDraft(page: Page, text: string): Promise<void> {
  await edit(page);
  await placeCaret(page, 0, 0);
  await page.keyboard.type(text);
  await page.getByText("drög geymd hér").waitFor();
  // The service has not received a draft when the page is left in this way.
  await page.goto("about:blank");
}

const draftOnService = (name: string) => pages.service.call("GET", `/v1alpha1/${name}/draft`);

/** Goes to another page of the console, so that the service gets the draft. Returns its etag. */
async function leaveDraftOnService(page: Page, name: string): Promise<string> {
  const { json } = await draftOnService(name);
  await page.locator("nav a").first().click();
  let etag = json.etag;
  await until(async () => {
    const { status, json: now } = await draftOnService(name);
    etag = now.etag;
    return status === 200 && etag !== json.etag;
  });
  return etag;
}

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
  expectProblems(page, /^409 PUT .*\/draft$/);
  await edit(page);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Hér. ");
  // The service has the draft after 30 seconds, or when the page of the text is left.
  await page.getByText("drög geymd hér").waitFor();
  await page.locator("nav a").first().click();
  const draft = () => draftOnService(name);
  await until(async () => (await draft()).status === 200);
  await page.evaluate(
    "new Promise((resolve) => { indexedDB.deleteDatabase('hlust-drafts').onsuccess = resolve; })",
  );
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(page);
  await untilTexts(page, withTexts({ 0: `Hér. ${first}` }));
  await using other = await pages.open(`/${name}`);
  await edit(other);
  await untilTexts(other, withTexts({ 0: `Hér. ${first}` }));
  await placeCaret(other, 0, 5);
  await other.keyboard.type("Þar. ");
  const etag = await leaveDraftOnService(other, name);
  await placeCaret(page, 0, 5);
  await page.keyboard.type("Nú. ");
  await page.getByText("annar vafri á").waitFor({ timeout: 45_000 * cpuSlowness });
  assert.equal((await draft()).json.etag, etag);
  // Only the user decides what replaces it, and then it waits.
  await page.getByRole("button", { name: "Halda þessum og geyma hin" }).click();
  await page.getByText("drög geymd hér og í þjónustunni").waitFor();
  await page.locator(".note").filter({ hasText: "Önnur drög að textanum" }).waitFor();
  assert.notEqual((await draft()).json.etag, etag);
  await untilTexts(page, withTexts({ 0: `Hér. Nú. ${first}` }));
});

test("while the version of a draft cannot be read, editing waits, and the draft stays as it is", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  expectProblems(page, /^429 GET .*\/(draft|versions)/);
  await leaveDraft(page, "Jæja. ");
  const theirs = second.replace("rólega", "hægt");
  const changed = turns.map(([speaker, text], at) => [speaker, at === 1 ? theirs : text] as const);
  await changeElsewhere(pages.service, name, { segments: segmentsOf(changed) });
  await page.goto(addressOf(name));
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  const note = page.getByRole("alert").filter({ hasText: "ekki náðist í útgáfuna" });
  try {
    await limit(1);
    await page.keyboard.press("e");
    await note.waitFor();
  } finally {
    await limit(null);
  }
  assert.match(await note.innerText(), /oftar á þjónustuna en hann má/);
  assert.equal(await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).count(), 0);
  await checkLooks(page, "draft-unopened", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await note.getByRole("button", { name: "Reyna aftur" }).click();
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  // The version of others joins the draft.
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}`, 1: theirs }));
});

test("saving in one browser leaves the newer draft of another on the service, and says so", async () => {
  const name = await createInterview(pages.service);
  await using one = await pages.open(`/${name}`);
  expectProblems(one, /^409 (PUT|DELETE) .*\/draft$/);
  await edit(one);
  await placeCaret(one, 0, 0);
  await one.keyboard.type("Hér. ");
  await leaveDraftOnService(one, name);
  await one.goBack();
  await untilTexts(one, withTexts({ 0: `Hér. ${first}` }));
  await using other = await pages.open(`/${name}`);
  await edit(other);
  await untilTexts(other, withTexts({ 0: `Hér. ${first}` }));
  await placeCaret(other, 0, 5);
  await other.keyboard.type("Þar. ");
  const etag = await leaveDraftOnService(other, name);
  await one.keyboard.press("Control+s");
  await one.getByText("Engar óvistaðar breytingar").waitFor();
  const note = one.locator(".note").filter({ hasText: "Annar vafri geymir önnur drög" });
  await note.waitFor();
  const { status, json } = await draftOnService(name);
  assert.equal(status, 200);
  assert.equal(json.etag, etag);
  await note.getByRole("button", { name: "Opna þau í staðinn" }).click();
  await untilTexts(one, withTexts({ 0: `Hér. Þar. ${first}` }));
});

test("two drafts that were written apart: the later one opens, and the other one waits until the user decides", async () => {
  const name = await createInterview(pages.service);
  await using one = await pages.open(`/${name}`);
  await leaveDraft(one, "Hér. ");
  await using other = await pages.open(`/${name}`);
  await edit(other);
  await placeCaret(other, 0, 0);
  await other.keyboard.type("Þar. ");
  await leaveDraftOnService(other, name);
  await one.goto(addressOf(name));
  await edit(one);
  await untilTexts(one, withTexts({ 0: `Þar. ${first}` }));
  const note = one.locator(".note").filter({ hasText: "Önnur drög að textanum" });
  await note.waitFor();
  await checkLooks(one, "drafts-two", someLooks);
  await show(one, { size: "desktop", language: "is", theme: "light" });
  // What is typed now overwrites neither.
  await placeCaret(one, 0, 5);
  await one.keyboard.type("Nú. ");
  await one.getByText("drög geymd hér").waitFor();
  await one.goto("about:blank");
  await one.goto(addressOf(name));
  await edit(one);
  await untilTexts(one, withTexts({ 0: `Þar. Nú. ${first}` }));
  // The keyboard is enough.
  const open = note.getByRole("button", { name: "Opna þau í staðinn" });
  await open.focus();
  await one.keyboard.press("Enter");
  await untilTexts(one, withTexts({ 0: `Hér. ${first}` }));
  await note.waitFor();
  await open.focus();
  await one.keyboard.press("Enter");
  await untilTexts(one, withTexts({ 0: `Þar. Nú. ${first}` }));
  await note.getByRole("button", { name: "Henda þeim" }).click();
  await note.waitFor({ state: "detached" });
  await one.getByText("drög geymd hér og í þjónustunni").waitFor();
  await one.goto(addressOf(name));
  await edit(one);
  await untilTexts(one, withTexts({ 0: `Þar. Nú. ${first}` }));
  assert.equal(await note.count(), 0);
});
