// Speakers in the editor, by keys, by the palette and by the margin, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import {
  caretOf,
  openEditing,
  openInterview,
  placeCaret,
  said,
  second,
  textsOf,
  untilTexts,
  withTexts,
} from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { sentChanges } from "./sent-changes.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

/** Waits until the margins show these speakers: "" where the one above goes on. */
async function untilSpeakers(page: Page, expected: readonly string[]): Promise<void> {
  let speakers: string[] = [];
  try {
    await until(async () => {
      speakers = await page.evaluate<string[]>(
        `Array.from(document.querySelectorAll(".segment-speaker"), (one) => one.textContent)`,
      );
      return JSON.stringify(speakers) === JSON.stringify(expected);
    }, 5_000);
  } catch {
    assert.deepEqual(speakers, expected);
  }
}

const paletteOf = (page: Page) => page.getByRole("dialog");
const reporter = "Fréttamaður";

test("F8 and a digit sets the speaker of a paragraph, Shift+F8 of all, and both are undone", async () => {
  await using page = await openInterview(pages);
  const opened = [reporter, "Rödd S2", reporter, "Rödd S2"];
  await untilSpeakers(page, opened);
  await placeCaret(page, 2, 5);
  await page.keyboard.press("F8");
  await paletteOf(page).waitFor();
  await page.keyboard.press("2");
  await paletteOf(page).waitFor({ state: "detached" });
  await untilSpeakers(page, [reporter, "Rödd S2", "", ""]);
  await until(async () => (await caretOf(page)).offset === 5);
  await page.keyboard.press("Shift+F8");
  await paletteOf(page).waitFor();
  await page.keyboard.press("1");
  await untilSpeakers(page, [reporter, "", "", ""]);
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Rödd S2", "", ""]);
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, opened);
});

test("a speaker is added and renamed from the margin, each in one step", async () => {
  await using page = await openInterview(pages);
  await page.locator(".segment-speaker").nth(2).click();
  await paletteOf(page).getByRole("textbox", { name: "Nafn nýs mælanda" }).fill("1 Þórdís");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Rödd S2", "1 Þórdís", "Rödd S2"]);
  await page.locator(".segment-speaker").nth(1).click();
  await paletteOf(page).getByRole("button", { name: "Breyta nafni: Rödd S2" }).click();
  await paletteOf(page).getByRole("textbox", { name: "Nýtt nafn: Rödd S2" }).fill("Lögregla");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Lögregla", "1 Þórdís", "Lögregla"]);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Rödd S2", reporter, "Rödd S2"]);
});

test("Shift+Enter divides for the other of the last two speakers, in one step", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 1, second.indexOf("Við sjáum"));
  await page.keyboard.press("Shift+Enter");
  await untilSpeakers(page, [reporter, "Rödd S2", reporter, "", "Rödd S2"]);
  assert.match((await textsOf(page))[2] ?? "", /^Við sjáum/);
  assert.deepEqual(await caretOf(page), { paragraph: 2, offset: 0 });
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Rödd S2", reporter, "Rödd S2"]);
});

test("a paragraph is put back to the words it was made from, in one step, by a chosen key", async () => {
  await using page = await openInterview(pages);
  await page.keyboard.press("Shift+F1");
  const restore = "Endurheimta málsgreinina eins og hún var talgreind";
  await page.getByRole("button", { name: `Bæta við lykli: ${restore}` }).click();
  await page.keyboard.press("F10");
  await page.getByRole("button", { name: `Fjarlægja F10: ${restore}` }).waitFor();
  await page.keyboard.press("Escape");
  await paletteOf(page).waitFor({ state: "detached" });
  await placeCaret(page, 1, 4);
  await page.keyboard.type("nei ");
  await untilTexts(page, withTexts({ 1: `${second.slice(0, 4)}nei ${second.slice(4)}` }));
  await page.keyboard.press("F10");
  await untilTexts(page, said);
  await page.keyboard.press("Control+z");
  await untilTexts(page, withTexts({ 1: `${second.slice(0, 4)}nei ${second.slice(4)}` }));
});

test("the palette is usable in each look", async () => {
  await using page = await openInterview(pages);
  await page.getByRole("button", { name: "Mælandi", exact: true }).click();
  await paletteOf(page).waitFor();
  await checkLooks(page, "editor-speakers", someLooks);
});

test("a paragraph that shows no name has a button for its speaker, where the pointer is", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 2, 12);
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Rödd S2", reporter, "", "Rödd S2"]);
  const button = page.locator(".segment").nth(3).getByRole("button", { name: "Mælandi: " });
  assert.equal(await button.getAttribute("aria-label"), `Mælandi: ${reporter}`);
  const opacity = () =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelectorAll(".segment-speaker")[3]).opacity`,
    );
  await page.locator(".segment").nth(0).hover();
  assert.equal(await opacity(), "0");
  await page.locator(".segment").nth(3).hover();
  assert.equal(await opacity(), "1");
  await button.click();
  await paletteOf(page).getByRole("textbox", { name: "Nafn nýs mælanda" }).fill("Þórdís");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Rödd S2", reporter, "Þórdís", "Rödd S2"]);
});

test("a new name of a speaker is saved without the segments", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await page.locator(".segment-speaker").nth(1).click();
  await paletteOf(page).getByRole("button", { name: "Breyta nafni: Rödd S2" }).click();
  await paletteOf(page).getByRole("textbox", { name: "Nýtt nafn: Rödd S2" }).fill("Lögregla");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Lögregla", reporter, "Lögregla"]);
  const changes = await sentChanges(page, async () => {
    await page.keyboard.press("Control+s");
    await page.getByText("Engar óvistaðar breytingar").waitFor();
  });
  assert.deepEqual(changes, []);
  const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
  assert.equal(json.metadata.speakers.S2.fullName, "Lögregla");
  assert.equal(json.segments.length, said.length);
  assert.equal((await versionsOf(pages.service, name)).length, 2);
});
