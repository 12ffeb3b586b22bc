// Speakers in the editor, by keys, by the palette and by the margin, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import type { WordJson } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { espeak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { openMediaHost } from "../spec/media-host.ts";
import {
  caretOf,
  openEditing,
  openInterview,
  placeCaret,
  said,
  second,
  select,
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
  const opened = [reporter, "Mælandi S2", reporter, "Mælandi S2"];
  await untilSpeakers(page, opened);
  await placeCaret(page, 2, 5);
  await page.keyboard.press("F8");
  await paletteOf(page).waitFor();
  await page.keyboard.press("2");
  await paletteOf(page).waitFor({ state: "detached" });
  await untilSpeakers(page, [reporter, "Mælandi S2", "", ""]);
  await until(async () => (await caretOf(page)).offset === 5);
  await page.keyboard.press("Shift+F8");
  await paletteOf(page).waitFor();
  await page.keyboard.press("1");
  await untilSpeakers(page, [reporter, "", "", ""]);
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Mælandi S2", "", ""]);
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, opened);
});

test("a speaker keeps the same key while others are assigned, also the first to speak", async () => {
  await using page = await openInterview(pages);
  const assign = async (paragraph: number, key: string): Promise<void> => {
    await placeCaret(page, paragraph, 3);
    await page.keyboard.press("F8");
    await paletteOf(page).waitFor();
    await page.keyboard.press(key);
    await paletteOf(page).waitFor({ state: "detached" });
  };
  await assign(0, "2");
  await untilSpeakers(page, ["Mælandi S2", "", reporter, "Mælandi S2"]);
  // The reporter was the first to speak when the text was opened.
  await assign(3, "1");
  await untilSpeakers(page, ["Mælandi S2", "", reporter, ""]);
  await assign(2, "2");
  await untilSpeakers(page, ["Mælandi S2", "", "", reporter]);
  await assign(3, "2");
  await untilSpeakers(page, ["Mælandi S2", "", "", ""]);
  await assign(0, "1");
  await untilSpeakers(page, [reporter, "Mælandi S2", "", ""]);
});

test("a speaker is added and renamed from the margin, each in one step", async () => {
  await using page = await openInterview(pages);
  await page.locator(".segment-speaker").nth(2).click();
  await paletteOf(page).getByRole("textbox", { name: "Nafn nýs mælanda" }).fill("1 Þórdís");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Mælandi S2", "1 Þórdís", "Mælandi S2"]);
  await page.locator(".segment-speaker").nth(1).click();
  await paletteOf(page).getByRole("button", { name: "Breyta nafni: Mælandi S2" }).click();
  await paletteOf(page).getByRole("textbox", { name: "Nýtt nafn: Mælandi S2" }).fill("Lögregla");
  await page.keyboard.press("Enter");
  await untilSpeakers(page, [reporter, "Lögregla", "1 Þórdís", "Lögregla"]);
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Mælandi S2", reporter, "Mælandi S2"]);
});

test("Shift+Enter divides for the other of the last two speakers, in one step", async () => {
  await using page = await openInterview(pages);
  await placeCaret(page, 1, second.indexOf("Við sjáum"));
  await page.keyboard.press("Shift+Enter");
  await untilSpeakers(page, [reporter, "Mælandi S2", reporter, "", "Mælandi S2"]);
  assert.match((await textsOf(page))[2] ?? "", /^Við sjáum/);
  assert.deepEqual(await caretOf(page), { paragraph: 2, offset: 0 });
  await page.keyboard.press("Control+z");
  await untilSpeakers(page, [reporter, "Mælandi S2", reporter, "Mælandi S2"]);
});

test("a paragraph is put back to the words it was made from, in one step, by a chosen key", async () => {
  await using page = await openInterview(pages);
  await page.keyboard.press("Shift+F1");
  const restore = "Endurheimta málsgreinina eins og hún var talgreind eða flutt inn";
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

/** Creates a transcript by a job, which recognizes a recording. */
async function recognize(): Promise<string> {
  await using host = await openMediaHost({ "/talk.wav": wavOf(espeak(second)) });
  const { json } = await submit(pages.service, `${host.address}/talk.wav`);
  const { last } = await pollJob(pages.service, json.name);
  assert.equal(last.state, "SUCCESS", JSON.stringify(last));
  return last.transcript;
}

test("after saving and reopening, a paragraph is put back to what was recognized, in one step", async () => {
  for (const [create, kind, shown] of [
    [recognize, "RECOGNIZED", "Málsgreinin er eins og hún var talgreind."],
    [() => createInterview(pages.service), "IMPORTED", "Málsgreinin er eins og hún var flutt inn."],
  ] as const) {
    const name = await create();
    const wordsNow = async (): Promise<WordJson[]> => {
      const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
      return json.segments[0].words;
    };
    const opened = await wordsNow();
    const text = opened.map(({ word }) => word).join("");
    const [one = "", two = "", three = ""] = opened.map(({ word = "" }) => word);
    assert.ok(three !== "", "there are too few words");
    const save = async (page: Page): Promise<void> => {
      await page.keyboard.press("Control+s");
      await page.getByText("Engar óvistaðar breytingar").waitFor();
    };
    const textNow = async (page: Page) => (await textsOf(page))[0];
    const changed = `${one}annað ${text.slice(one.length + two.length + three.length)}`;
    {
      await using page = await openEditing(pages, name, 1);
      await select(page, [0, one.length], [0, one.length + two.length + three.length]);
      await page.keyboard.type("annað ");
      await until(async () => (await textNow(page)) === changed);
      await save(page);
    }
    assert.notDeepEqual(await wordsNow(), opened);
    await using page = await openEditing(pages, name, 1);
    assert.equal(await textNow(page), changed);
    await page.keyboard.press("Alt+Shift+Backspace");
    await until(async () => (await textNow(page)) === text);
    await page.locator("output.unseen").filter({ hasText: shown }).first().waitFor();
    await page.keyboard.press("Control+z");
    await until(async () => (await textNow(page)) === changed);
    await page.keyboard.press("Control+Shift+z");
    await save(page);
    assert.deepEqual(
      (await wordsNow()).map(({ word }) => word),
      opened.map(({ word }) => word),
    );
    const kinds = (await versionsOf(pages.service, name)).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["EDITED", "EDITED", kind]);
  }
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
  await untilSpeakers(page, [reporter, "Mælandi S2", reporter, "", "Mælandi S2"]);
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
  await untilSpeakers(page, [reporter, "Mælandi S2", reporter, "Þórdís", "Mælandi S2"]);
});

test("a new name of a speaker is saved without the segments", async () => {
  const name = await createInterview(pages.service);
  await using page = await openEditing(pages, name);
  await page.locator(".segment-speaker").nth(1).click();
  await paletteOf(page).getByRole("button", { name: "Breyta nafni: Mælandi S2" }).click();
  await paletteOf(page).getByRole("textbox", { name: "Nýtt nafn: Mælandi S2" }).fill("Lögregla");
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
