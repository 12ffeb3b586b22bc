// Others who have the same text open: other users, and other tabs of the same browser, in Chromium
// and the real service.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  first,
  openEditing,
  placeCaret,
  second,
  textsOf,
  third,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { createInterview, turns, versionsOf } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

let pages: TestPages;
let annasKey = "";
before(async () => {
  pages = await openTestPages();
  const { status, json } = await pages.service.call("POST", "/v1/apiKeys", {
    displayName: "Anna",
    scopes: ["transcripts.read", "transcripts.write"],
  });
  assert.equal(status, 200, JSON.stringify(json));
  annasKey = json.secret;
});
after(() => pages[Symbol.asyncDispose]());

/** Opens a transcript as Anna, and begins to edit it. */
async function openAsAnna(name: string): Promise<Page> {
  const page = await pages.open(`/${name}`, { key: annasKey });
  await edit(page);
  return page;
}

/** Opens a transcript to read. */
async function openReading(name: string): Promise<Page> {
  const page = await pages.open(`/${name}`);
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  return page;
}

/** Begins to edit the text of the page. */
async function edit(page: Page): Promise<void> {
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
}

const people = (page: Page) =>
  page.getByRole("list", { name: "Aðrir með þennan texta opinn" }).getByRole("listitem");

async function saved(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
}

test("those who edit or read the text elsewhere are shown with their place until they leave", async () => {
  const name = await createInterview(pages.service);
  await using mine = await openEditing(pages, name);
  assert.equal(await people(mine).count(), 0);
  const annas = await openAsAnna(name);
  await people(mine).filter({ hasText: "Anna breytir textanum · 0:00" }).waitFor();
  await people(annas).filter({ hasText: "breytir textanum" }).waitFor();
  const report = (state: object) =>
    pages.service.call("POST", `/v1alpha1/${name}:reportPresence`, { session: "desk", ...state });
  assert.equal((await report({ position: "75s" })).status, 200);
  await people(mine).filter({ hasText: "(þú, annars staðar) les textann · 1:15" }).waitFor();
  await checkLooks(mine, "presence", someLooks);
  // A page that is closed says so.
  await annas.close();
  await people(mine)
    .filter({ hasText: "Anna" })
    .waitFor({ state: "detached", timeout: 10_000 * cpuSlowness });
  await report({ leave: true });
  await until(async () => (await people(mine).count()) === 0);
});

test("when others appear in the bar over the text, the line of the caret stays in view", async () => {
  // Long enough that the page can be scrolled.
  const said = Array.from({ length: 8 }, () => turns).flat();
  const name = await createInterview(pages.service, { said });
  await using page = await openEditing(pages, name, said.length);
  await placeCaret(page, 20, 0);
  const places = () =>
    page.evaluate<{ readonly bar: number; readonly line: number }>(`(() => {
      const bar = document.querySelector(".edit-bar").getBoundingClientRect().bottom;
      const range = getSelection().getRangeAt(0).cloneRange();
      range.setEnd(range.startContainer, range.startOffset + 1);
      return { bar, line: range.getBoundingClientRect().top };
    })()`);
  // The line of the caret is right below the bar.
  const { bar, line } = await places();
  await page.evaluate(`scrollBy({ top: ${line - bar - 4}, behavior: "instant" })`);
  const before = await places();
  assert.ok(Math.abs(before.line - before.bar - 4) < 2, JSON.stringify(before));
  const presence = { session: "desk", position: "75s" };
  await pages.service.call("POST", `/v1alpha1/${name}:reportPresence`, presence);
  await people(page).filter({ hasText: "1:15" }).waitFor();
  await until(async () => {
    const after = await places();
    return after.bar > before.bar + 10 && after.line >= after.bar;
  });
  // And the browser does not scroll the lines above below the bar.
  for (let at = 0; at < 12; at += 1) {
    await page.keyboard.press("ArrowUp");
    const after = await places();
    assert.ok(after.line >= after.bar - 1, JSON.stringify(after));
  }
});

test("a person who stops editing is shown as reading, and readers see who reads and edits", async () => {
  const name = await createInterview(pages.service);
  await using mine = await openReading(name);
  assert.equal(await people(mine).count(), 0);
  await using annas = await openAsAnna(name);
  await people(mine).filter({ hasText: "Anna breytir textanum · 0:00" }).waitFor();
  await people(annas).filter({ hasText: "les textann · 0:00" }).waitFor();
  await annas.getByRole("button", { name: "Lesa", exact: true }).click();
  await people(mine).filter({ hasText: "Anna les textann" }).waitFor();
  assert.equal(await people(mine).count(), 1);
  await people(annas).filter({ hasText: "les textann" }).waitFor();
  await checkLooks(mine, "presence-reading", someLooks);
  await mine.goto(`${pages.service.address}/console/jobs`);
  await until(async () => (await people(annas).count()) === 0);
});

test("a caret that moves is shown to others within three seconds, and costs no calls while no one sees it", async () => {
  const name = await createInterview(pages.service);
  const annas = await pages.open("/nowhere", { key: annasKey });
  // The clock belongs to the context, which is not used again.
  await using _context = annas.context();
  const reports: string[] = [];
  annas.on("request", (request) => {
    if (request.url().endsWith(":reportPresence")) reports.push(request.postData() ?? "");
  });
  // From here on, the time of the page passes only when the test says so.
  await annas.clock.install();
  await annas.goto(`${pages.service.address}/console/${name}`);
  await edit(annas);
  await annas.clock.pauseAt(Date.now() + 60_000);
  const move = async (key: string): Promise<void> => {
    await annas.keyboard.press(key);
    await annas.clock.runFor(3_000);
  };
  // Alone for a minute in which the caret moves 20 times, the page only reports that it is open:
  // every 15 s, and perhaps what was due before.
  reports.length = 0;
  for (let at = 0; at < 10; at += 1) {
    await move("Control+Home");
    await move("Control+End");
  }
  assert.ok(reports.length <= 6, `${reports.length} reports`);
  // A reader who comes sees where the caret is, although no time passes.
  await using mine = await openReading(name);
  const annasPlace = (place: string) =>
    people(mine)
      .filter({ hasText: new RegExp(`Anna breytir textanum · ${place}`) })
      .waitFor();
  const end = "0:[1-5]\\d";
  await annasPlace(end);
  // Then each place is shown within three seconds, and reported once, however often it changed.
  reports.length = 0;
  for (const [key, place] of [
    ["Control+Home", "0:00"],
    ["Control+End", end],
    ["Control+Home", "0:00"],
  ] as const) {
    for (let at = 0; at < 8; at += 1) await annas.keyboard.press("ArrowLeft");
    await move(key);
    await annasPlace(place);
  }
  assert.ok(reports.length <= 4, reports.join(" "));
});

test("a version of another comes into the open text, which says so", async () => {
  const name = await createInterview(pages.service);
  await using mine = await openEditing(pages, name);
  await using annas = await openAsAnna(name);
  await placeCaret(mine, 1, 4);
  await placeCaret(annas, 0, 0);
  await annas.keyboard.type("Jæja. ");
  await saved(annas);
  const note = (page: Page, text: string) => page.locator(".note").filter({ hasText: text });
  await note(mine, "Anna vistaði útgáfu, sem er komin inn í textann: 1 breytt").waitFor();
  await untilTexts(mine, withTexts({ 0: `Jæja. ${first}` }));
  assert.deepEqual(await caretOf(mine), { paragraph: 1, offset: 4 });
  await checkLooks(mine, "presence-version", [{ size: "phone", language: "is", theme: "light" }]);
  await mine.setViewportSize({ width: 1280, height: 800 });
  await mine.getByText("Engar óvistaðar breytingar").waitFor();
  // One's own version is not announced to oneself, and the other sees it.
  await placeCaret(annas, 2, 0);
  await annas.keyboard.type("Sko. ");
  await placeCaret(mine, 1, 0);
  await mine.keyboard.type("Nú. ");
  await saved(mine);
  await untilTexts(
    annas,
    withTexts({ 0: `Jæja. ${first}`, 1: `Nú. ${second}`, 2: `Sko. ${third}` }),
  );
  await annas
    .getByText(/^Óvistaðar breytingar/)
    .or(annas.getByText("Drög geymd"))
    .waitFor();
  assert.equal(await mine.locator(".note").count(), 0);
  await saved(annas);
  await until(async () => (await annas.locator(".note").count()) === 0);
  assert.equal((await versionsOf(pages.service, name)).length, 4);
});

test("the text of a deleted transcript stays on the page, and is saved as a file", async () => {
  const name = await createInterview(pages.service);
  await using mine = await openEditing(pages, name);
  await placeCaret(mine, 0, 0);
  await mine.keyboard.type("Jæja. ");
  assert.equal((await pages.service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  await mine.getByRole("alert").filter({ hasText: "Uppskriftinni hefur verið eytt" }).waitFor();
  await untilTexts(mine, withTexts({ 0: `Jæja. ${first}` }));
  await checkLooks(mine, "presence-deleted", [{ size: "desktop", language: "is", theme: "dark" }]);
  const [download] = await Promise.all([
    mine.waitForEvent("download"),
    mine.getByRole("button", { name: "Vista textann sem skrá" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `${name.split("/")[1]}.txt`);
  const text = await readFile(await download.path(), "utf8");
  assert.ok(text.startsWith(`Fréttamaður: Jæja. ${first}\n\nS2: ${second}\n\nFréttamaður: `), text);
});

test("a second tab reads until it takes the text over, with what the first had typed", async () => {
  const name = await createInterview(pages.service);
  await using one = await openEditing(pages, name);
  await placeCaret(one, 0, 0);
  await one.keyboard.type("Jæja. ");
  const other = await one.context().newPage();
  await other.goto(new URL(`/console/${name}`, pages.service.address).href);
  await other.locator(".segment").nth(3).waitFor({ state: "attached" });
  await other.keyboard.press("e");
  const elsewhere = "Þessum texta er breytt í öðrum flipa eða glugga vafrans.";
  await other.getByText(elsewhere).waitFor();
  assert.equal(await other.getByRole("textbox", { name: "Textinn, í vinnslu" }).count(), 0);
  await checkLooks(other, "presence-tabs", [{ size: "desktop", language: "is", theme: "light" }]);
  await one.keyboard.type("Sko. ");
  await other.getByRole("button", { name: "Breyta frekar hér" }).click();
  await other.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  await untilTexts(other, withTexts({ 0: `Jæja. Sko. ${first}` }));
  await one.getByText(elsewhere).waitFor();
  await untilTexts(one, withTexts({}));
  // And back, with what was typed in the second.
  await placeCaret(other, 1, 0);
  await other.keyboard.type("Nú. ");
  await one.getByRole("button", { name: "Breyta frekar hér" }).click();
  await untilTexts(one, withTexts({ 0: `Jæja. Sko. ${first}`, 1: `Nú. ${second}` }));
  await other.getByText(elsewhere).waitFor();
  // After the tab is closed, or stops editing, the text is free.
  await saved(one);
  await one.getByRole("button", { name: "Lesa", exact: true }).click();
  await other.reload();
  await edit(other);
  await untilTexts(other, withTexts({ 0: `Jæja. Sko. ${first}`, 1: `Nú. ${second}` }));
  await other.close();
});

test("a tab that is frozen loses its text to another one, and overwrites nothing when it wakes", async () => {
  const name = await createInterview(pages.service);
  await using one = await openEditing(pages, name);
  await placeCaret(one, 0, 0);
  await one.keyboard.type("Jæja. ");
  await one.getByText("drög geymd hér").waitFor();
  const devtools = await one.context().newCDPSession(one);
  const other = await one.context().newPage();
  await other.goto(new URL(`/console/${name}`, pages.service.address).href);
  await other.locator(".segment").nth(3).waitFor({ state: "attached" });
  // What is typed last is not stored yet when the tab is frozen.
  await one.keyboard.type("Sko. ");
  await devtools.send("Page.setWebLifecycleState", { state: "frozen" });
  await other.bringToFront();
  await other.keyboard.press("e");
  await other.getByRole("button", { name: "Breyta frekar hér" }).click();
  await other.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  await until(async () => (await textsOf(other))[0]?.startsWith("Jæja. ") === true);
  const found = (await textsOf(other))[0] ?? "";
  await placeCaret(other, 0, 0);
  await other.keyboard.type("Nú. ");
  await other.getByText("drög geymd hér").waitFor();
  await devtools.send("Page.setWebLifecycleState", { state: "active" });
  await one.getByText("Þessum texta er breytt í öðrum flipa").waitFor();
  await other.reload();
  await edit(other);
  await untilTexts(other, withTexts({ 0: `Nú. ${found}` }));
  // What the frozen tab had not stored by then waits.
  if (!found.startsWith("Jæja. Sko. ")) {
    await other.getByRole("button", { name: "Opna þau í staðinn" }).click();
    await untilTexts(other, withTexts({ 0: `Jæja. Sko. ${first}` }));
  }
  await other.close();
});

test("a transcript that is deleted at the moment of saving: the text stays, and is saved as a file", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  expectProblems(page, /^404 POST .*:(modifySegments|reportPresence)$/);
  await placeCaret(page, 0, 0);
  await page.keyboard.type("Jæja. ");
  // The page does not learn of it in another way before it saves.
  await page.route(/:watch/, (route) => route.abort());
  await page.evaluate("stop()");
  assert.equal((await pages.service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  await page.keyboard.press("Control+s");
  const note = page.getByRole("alert").filter({ hasText: "svo ekki er hægt að vista útgáfu" });
  await note.waitFor();
  await untilTexts(page, withTexts({ 0: `Jæja. ${first}` }));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    note.getByRole("button", { name: "Vista textann sem skrá" }).click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  assert.ok(text.startsWith(`Fréttamaður: Jæja. ${first}\n\n`), text);
});
