// What keeps a text from being saved or kept: a lost network, limits, a service that is down, and
// browsers that store nothing. In Chromium and the real service; nothing typed is lost.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Kysely, sql } from "kysely";
import type { Page } from "playwright-core";
import { setAccountLimits } from "../../src/accounts/set-account-limits.ts";
import { consoleSettings } from "../../src/auth/console-settings.ts";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import { caretOf, first, openEditing, placeCaret, untilTexts, withTexts } from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
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

/** Sets limits of the account; null removes them. */
async function limit(limits: Parameters<typeof setAccountLimits>[3]): Promise<void> {
  const { account_id: account } = await db
    .selectFrom("api_key")
    .select("account_id")
    .executeTakeFirstOrThrow();
  const operator = { actor: "operator", origin: { address: "", requestId: "" } };
  await setAccountLimits(db, operator, account, limits);
}

async function openTyped(name: string): Promise<Page> {
  const page = await openEditing(pages, name);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  return page;
}

async function edit(page: Page): Promise<void> {
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
}

const saved = (page: Page) => page.getByText("Engar óvistaðar breytingar").waitFor();

async function firstTextAtService(name: string): Promise<string> {
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  return json.segments[0].words.map(({ word }: { word: string }) => word).join("");
}

test("without a network the text is kept, and what was typed until then is saved when it is back", async () => {
  const name = await createInterview(pages.service);
  await using page = await openTyped(name);
  await page.context().setOffline(true);
  await page.keyboard.press("Control+s");
  const note = page.locator(".note").filter({ hasText: "verður vistaður þegar samband næst" });
  await note.waitFor();
  await checkLooks(page, "save-offline", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await page.keyboard.type("Sko. ");
  await page.getByText("drög geymd hér").waitFor();
  await page.context().setOffline(false);
  await saved(page);
  await note.waitFor({ state: "detached" });
  assert.equal(await firstTextAtService(name), `Jæja. Sko. ${first}`);
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});

test("waiting for the network can be stopped, and the text stays", async () => {
  const name = await createInterview(pages.service);
  await using page = await openTyped(name);
  await page.context().setOffline(true);
  await page.keyboard.press("Control+s");
  await page.getByRole("button", { name: "Hætta að reyna" }).click();
  await page.getByRole("alert").filter({ hasText: "Textinn er kyrr á síðunni." }).waitFor();
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  await page.context().setOffline(false);
  await page.keyboard.press("Control+s");
  await saved(page);
});

test("above the limit of calls, saving waits as the service says, and then succeeds by itself", async () => {
  const name = await createInterview(pages.service);
  await using page = await openTyped(name);
  expectProblems(page, /^429 POST .*:modifySegments$/);
  await limit({ requestsPerMinute: 1 });
  await until(async () => (await pages.service.call("GET", "/v1/account")).status === 429);
  await page.keyboard.press("Control+s");
  const note = page.locator(".note").filter({ hasText: /aftur eftir \d+ sekúndu/ });
  await note.waitFor();
  assert.match(await note.innerText(), /oftar á þjónustuna en hann má/);
  const [, seconds] = /aftur eftir (\d+) sekúndu/.exec(await note.innerText()) ?? [];
  assert.ok(Number(seconds) > 2, `the note says ${seconds} s`);
  await page.keyboard.type("Sko. ");
  await limit({ requestsPerMinute: null });
  await until(async () => (await pages.service.call("GET", "/v1/account")).status === 200);
  // It has not tried again before its time, unless the user wants it.
  await note.getByRole("button", { name: "Reyna núna" }).click();
  await saved(page);
  assert.equal(await firstTextAtService(name), `Jæja. Sko. ${first}`);
});

test("if a proxy says that the service is down, saving says so, waits as long as the proxy says, and then saves", async () => {
  const name = await createInterview(pages.service);
  await using page = await openTyped(name);
  expectProblems(page, /^503 POST .*:modifySegments$/);
  await page.route("**/*:modifySegments", (route) =>
    route.fulfill({ status: 503, headers: { "retry-after": "600" }, body: "<h1>down</h1>" }),
  );
  await page.keyboard.press("Control+s");
  const note = page.locator(".note").filter({ hasText: "aftur eftir 600 sekúndur" });
  await note.waitFor();
  assert.match(await note.innerText(), /^Þjónustan gat ekki svarað\. Textinn er kyrr hér\./);
  await page.unroute("**/*:modifySegments");
  await note.getByRole("button", { name: "Reyna núna" }).click();
  await saved(page);
  await note.waitFor({ state: "detached" });
  assert.equal(await firstTextAtService(name), `Jæja. ${first}`);
});

test("a note alone makes a version of the same text", async () => {
  const name = await createInterview(pages.service);
  const before = await pages.service.call("GET", `/v1alpha1/${name}`);
  await using page = await openEditing(pages, name);
  // A paragraph without words is not saved.
  await placeCaret(page, 3, 0);
  await page.keyboard.press("Control+End");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+Shift+s");
  await page.getByRole("dialog", { name: "Vista sem útgáfu með athugasemd" }).waitFor();
  await page.keyboard.type("Yfirlesið");
  await page.keyboard.press("Enter");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const after = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(after.json.version.note, "Yfirlesið");
  assert.deepEqual(after.json.segments, before.json.segments);
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}/versions`);
  assert.equal(json.versions.length, 2);
  // The next version is saved on top of it.
  await page.keyboard.type("Endir.");
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
  const { json: last } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(last.version.parent, after.json.version.name);
  assert.deepEqual([last.version.note, last.segments.length], ["", 5]);
});

test("a browser that stores nothing keeps the draft on the service within seconds, and says so", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open("/");
  // Private windows of some browsers have no database.
  await page.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })");
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(page);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await page.getByText("vafrinn getur ekki geymt drög").waitFor();
  await page.getByText("þau eru geymd í þjónustunni").waitFor({ timeout: 15_000 * cpuSlowness });
  await page.reload();
  await edit(page);
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  await page.keyboard.press("Control+s");
  await saved(page);
});

test("a browser whose quota is full says so, and stores the draft again when there is room", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  const devtools = await page.context().newCDPSession(page);
  const { origin } = new URL(pages.service.address);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1 });
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  await page.getByText("vafrinn getur ekki geymt drög").waitFor();
  await page.getByText("þau eru geymd í þjónustunni").waitFor({ timeout: 15_000 * cpuSlowness });
  await devtools.send("Storage.overrideQuotaForOrigin", { origin });
  await page
    .getByText("drög geymd hér og í þjónustunni")
    .waitFor({ timeout: 20_000 * cpuSlowness });
  await devtools.detach();
});

test("a draft that is too large for the service stays in the browser, and a version is asked for", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^413 PUT .*\/draft$/);
  await placeCaret(page, 0, 0);
  // Random characters are hardly made smaller by compression: 5 million of them exceed 8 MiB.
  await page.evaluate(`(() => {
    const paragraphs = Array.from({ length: 500 }, () => {
      const random = crypto.getRandomValues(new Uint16Array(10_000));
      return Array.from(random, (one) => String.fromCharCode(0x4e00 + (one & 0x3fff))).join("");
    });
    const data = new DataTransfer();
    data.setData("text/plain", paragraphs.join("\\n"));
    const text = document.querySelector("[contenteditable]");
    text.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  })()`);
  await page.getByText("drög geymd hér").waitFor();
  // The service receives a draft after 30 seconds.
  await page
    .getByText("þau eru of stór fyrir þjónustuna")
    .waitFor({ timeout: 60_000 * cpuSlowness });
});

test("while the account's storage is full, the draft stays in the browser, the page says so, and the service gets it when there is room", async () => {
  const name = await createInterview(pages.service);
  const page = await pages.open("/nowhere");
  expectProblems(page, /^429 PUT .*\/draft$/);
  // The clock belongs to the context, which is not used again.
  await using _context = page.context();
  await page.clock.install();
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(page);
  const draft = () => pages.service.call("GET", `/v1alpha1/${name}/draft`);
  await limit({ storedBytes: 1 });
  try {
    await placeCaret(page, 0, 0);
    await page.keyboard.type("Jæja. ");
    await page.getByText("drög geymd hér").waitFor();
    // The service receives a draft after 30 seconds.
    await page.clock.fastForward(30_000);
    await page.getByText("drög geymd hér; geymsla reikningsins er full").waitFor();
    await page.getByRole("button", { name: "Skrá út" }).click();
    const question = page.getByRole("dialog", { name: "Óvistaðar breytingar" });
    await question.getByRole("button", { name: "Geyma drögin og skrá út" }).click();
    await question.getByText("svo drögin komast ekki í þjónustuna").waitFor();
    await question.getByRole("button", { name: "Vera áfram" }).click();
    assert.equal((await draft()).status, 404);
  } finally {
    await limit({ storedBytes: null });
  }
  // No key is pressed: the page tries again by itself.
  await page.clock.fastForward(60_000);
  await page.getByText("drög geymd hér og í þjónustunni").waitFor();
  assert.equal((await draft()).status, 200);
});

test("if neither the browser nor the service keeps a draft, the page says why of both, and saves the text as a file", async () => {
  const name = await createInterview(pages.service);
  const page = await pages.open("/nowhere");
  // The clock belongs to the context, which is not used again.
  await using _context = page.context();
  await page.addInitScript("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })");
  await page.clock.install();
  await page.goto(new URL(`/console/${name}`, pages.service.address).href);
  await edit(page);
  await limit({ storedBytes: 1 });
  try {
    await placeCaret(page, 0, 0);
    await page.keyboard.type("Jæja. ");
    await page.getByText("vafrinn getur ekki geymt drög").waitFor();
    await page.clock.fastForward(10_000);
    await page.getByText("drögin eru hvergi geymd: vistaðu útgáfu").waitFor();
    const note = page.getByRole("alert").filter({ hasText: "Hvorki vafrinn né þjónustan" });
    await note.getByText("geymsla reikningsins í þjónustunni er full").waitFor();
    const look = { size: "desktop", language: "is", theme: "dark" } as const;
    await checkLooks(page, "edit-draft-nowhere", [look]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      note.getByRole("button", { name: "Vista textann sem skrá" }).click(),
    ]);
    assert.match(await readFile(await download.path(), "utf8"), /^Fréttamaður: Jæja\. /);
  } finally {
    await limit({ storedBytes: null });
  }
  await page.clock.fastForward(60_000);
  await page.getByText("þau eru geymd í þjónustunni").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("settings that could not be read are not overwritten by a change of one of them", async () => {
  const { id, account_id: accountId } = await db
    .selectFrom("api_key")
    .select(["id", "account_id"])
    .executeTakeFirstOrThrow();
  const user = { accountId, actor: `apiKeys/${id}` };
  const settings = consoleSettings(db);
  const before = { other: 1, editing: { keys: { undo: ["F9"] } } };
  await settings.save(user, JSON.stringify(before));
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  expectProblems(page, /^500 GET \/console\/settings$/);
  const rename = (from: string, to: string) =>
    sql`alter table ${sql.table(from)} rename to ${sql.id(to)}`.execute(db);
  const openSettings = async () => {
    await page.keyboard.press("Shift+F1");
    return page.getByRole("dialog");
  };
  await rename("console_settings", "lost_settings");
  try {
    await edit(page);
    const dialog = await openSettings();
    await dialog.getByLabel("Láta vafrann yfirfara stafsetningu").uncheck();
    await dialog.getByRole("alert").waitFor();
    assert.equal(await dialog.getByLabel("Láta vafrann yfirfara").isChecked(), false);
  } finally {
    await rename("lost_settings", "console_settings");
  }
  await page.getByRole("dialog").getByLabel("Tab spilar frá bendlinum").uncheck();
  await until(async () => (await settings.read(user)).includes("tabPlays"));
  const kept = JSON.parse(await settings.read(user));
  assert.equal(kept.other, 1);
  assert.deepEqual(kept.editing.keys, { undo: ["F9"] });
  assert.equal(kept.editing.checksSpelling, false, "the first change is kept too");
  // Other tests use the usual keys.
  await settings.save(user, "{}");
});

test("a text that the service would refuse is not sent: its problems are named, with their places", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  const paste = async (text: string): Promise<void> =>
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.setData("text/plain", ${text});
      const event = { clipboardData: data, bubbles: true, cancelable: true };
      document.querySelector("[contenteditable]").dispatchEvent(new ClipboardEvent("paste", event));
    })()`);
  await placeCaret(page, 1, 4);
  await paste(`"x".repeat(1_000) + " "`);
  const sent: string[] = [];
  page.on("request", (request) => {
    const isSave = request.method() === "PATCH" || request.url().endsWith(":modifySegments");
    if (isSave) sent.push(request.url());
  });
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+s");
  const note = page.getByRole("alert").filter({ hasText: "Ekki er hægt að vista textann svona." });
  await note.getByText("Eitt orð hefur 1.001 staf; mest mega þeir vera 1.000.").waitFor();
  await checkLooks(page, "save-unsavable", someLooks);
  await show(page, { size: "desktop", language: "is", theme: "light" });
  await note.getByRole("button", { name: "Fara á staðinn" }).click();
  await until(async () => {
    const { paragraph, offset } = await caretOf(page);
    return paragraph === 1 && offset === 4;
  });
  assert.deepEqual(sent, []);
  assert.equal((await versionsOf(pages.service, name)).length, 1);
  await page.keyboard.press("Control+z");
  await page.keyboard.type("Jæja. ");
  await page.keyboard.press("Control+s");
  await saved(page);
});
