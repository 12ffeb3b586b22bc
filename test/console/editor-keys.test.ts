// The keys of the editor, what they play, and how users change them, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { caretOf, openEditing, placeCaret, textsOf } from "./edited-page.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

const talk = interview();
let pages: TestPages;
let name = "";
before(async () => {
  pages = await openTestPages();
  const media = Uint8Array.from(wavOf(talk.samples));
  const segments = talk.segments;
  name = await createTranscript(pages.service, { metadata: interviewMetadata, segments }, media);
});
after(() => pages[Symbol.asyncDispose]());

const first = talk.segments[0]?.words ?? [];
const startOf = (word: number): number => Number.parseFloat(first[word]?.startTime ?? "");

interface Played {
  readonly place: number;
  readonly isPlaying: boolean;
  readonly rate: number;
}

const played = (page: Page): Promise<Played> =>
  page.evaluate<Played>(
    `(({ currentTime, paused, playbackRate }) =>
        ({ place: currentTime, isPlaying: !paused, rate: playbackRate }))(document.querySelector("video, audio"))`,
  );

const untilPlayed = (page: Page, isSo: (now: Played) => boolean): Promise<void> =>
  until(async () => isSo(await played(page)));

async function openPlayable(): Promise<Page> {
  const page = await openEditing(pages, name);
  await page.waitForFunction("document.querySelector('video, audio')?.readyState > 0");
  return page;
}

test("keys play from the caret, pause with a jump back, skip, and change the speed in tenths", async () => {
  await using page = await openPlayable();
  const word = 5;
  await placeCaret(
    page,
    0,
    first.slice(0, word).reduce((sum, { word }) => sum + word.length, 0),
  );
  await page.keyboard.press("Tab");
  await untilPlayed(page, ({ isPlaying, place }) => isPlaying && place > startOf(word) - 0.05);
  assert.ok((await played(page)).place < startOf(word) + 1.5);
  await untilPlayed(page, ({ place }) => place > startOf(word) + 1.2);
  await page.keyboard.press("Escape");
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  // The jump back is one second at first.
  const paused = await played(page);
  assert.ok(paused.place > startOf(word), String(paused.place));
  await page.keyboard.press("F2");
  await untilPlayed(page, ({ place }) => Math.abs(place - paused.place - 2) < 0.01);
  await page.keyboard.press("F1");
  await untilPlayed(page, ({ place }) => Math.abs(place - paused.place) < 0.01);
  for (let tenths = 0; tenths < 3; tenths++) await page.keyboard.press("F3");
  await untilPlayed(page, ({ rate }) => Math.abs(rate - 0.7) < 1e-9);
  for (let tenths = 0; tenths < 20; tenths++) await page.keyboard.press("Shift+F3");
  await untilPlayed(page, ({ rate }) => rate === 2);
  // The second sentence begins with the third word.
  await page.keyboard.press("Shift+Tab");
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
  const { place } = await played(page);
  assert.ok(place >= startOf(2) - 0.05 && place < startOf(2) + 1.5, String(place));
  assert.deepEqual(
    await textsOf(page),
    talk.segments.map(({ words }) => words.map(({ word }) => word).join("")),
  );
});

test("Ctrl+G goes to a time, and says what is wrong with one", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("Control+g");
  const field = page.getByRole("textbox", { name: "Tími" });
  await field.fill("1:99");
  await page.keyboard.press("Enter");
  await page.getByText("Sláðu inn tíma").waitFor();
  await field.fill("9:00:00");
  await page.keyboard.press("Enter");
  await page.getByText("Upptakan endar við").waitFor();
  const target = Number.parseFloat(talk.segments[1]?.startTime ?? "");
  await field.fill(`0:${target.toFixed(3).padStart(6, "0")}`);
  await page.keyboard.press("Enter");
  await untilPlayed(page, ({ place }) => Math.abs(place - target) < 0.01);
  await until(async () => (await caretOf(page)).paragraph === 1);
  await page.keyboard.type("!");
  assert.match((await textsOf(page))[1] ?? "", /^!/);
});

test("F6 walks the regions of the page, and always leaves the text", async () => {
  await using page = await openPlayable();
  const region = () =>
    page.evaluate<string>("document.activeElement.closest('[data-region]')?.dataset.region ?? ''");
  assert.equal(await region(), "text");
  const seen = new Set<string>();
  for (let step = 0; step < 4; step++) {
    await page.keyboard.press("F6");
    seen.add(await region());
  }
  assert.deepEqual([...seen].toSorted(), ["aside", "bar", "player", "text"]);
  assert.equal(await region(), "text");
  await page.keyboard.press("Shift+F6");
  assert.equal(await region(), "bar");
});

test("a key that is given to another command works after a reload, in each browser", async () => {
  {
    await using page = await openPlayable();
    await page.keyboard.press("Shift+F1");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Bæta við lykli: Spila eða gera hlé" }).click();
    await page.keyboard.press("a");
    await dialog.getByText("Þessi lykill skrifar í textann").waitFor();
    await dialog.getByRole("button", { name: "Bæta við lykli: Spila eða gera hlé" }).click();
    await page.keyboard.press("F9");
    await dialog.getByRole("button", { name: "Fjarlægja F9: Spila eða gera hlé" }).waitFor();
    assert.equal(await dialog.getByRole("button", { name: /Fjarlægja F9: Láta/ }).count(), 0);
    await dialog.getByLabel("Tab spilar frá bendlinum").uncheck();
    await dialog.getByLabel("Láta vafrann yfirfara stafsetningu").uncheck();
    await dialog.getByRole("button", { name: "Loka" }).click();
    await page.waitForFunction("document.querySelector('.words-text').spellcheck === false");
  }
  await until(async () => JSON.stringify(await keptKeys()).includes("F9"));
  await using page = await openPlayable();
  await page.waitForFunction("document.querySelector('.words-text').spellcheck === false");
  await page.keyboard.press("F9");
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
  await page.keyboard.press("F9");
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.closest('[contenteditable]')"), null);
});

test("the dialog of keys is usable in each look", async () => {
  await using page = await openPlayable();
  await page.keyboard.press("Shift+F1");
  await page.getByRole("dialog").waitFor();
  await checkLooks(page, "editor-settings", someLooks);
});

async function keptKeys(): Promise<unknown> {
  await using page = await pages.open("/");
  return await page.evaluate("fetch('/console/settings').then((answer) => answer.json())");
}

test("typing pauses the playback until a second after the last character, if chosen", async () => {
  await using page = await openPlayable();
  await page.getByRole("button", { name: "Lyklar og stillingar" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Meðan skrifað er").selectOption("pause");
  await dialog.getByRole("button", { name: "Loka" }).click();
  await placeCaret(page, 3, 5);
  await page.keyboard.press("F4");
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
  await page.keyboard.type("x");
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  await page.keyboard.type("y");
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
});
