// The keys of the editor, and how users change them, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { composed } from "./compose.ts";
import { caretOf, placeCaret, textsOf, untilTexts } from "./edited-page.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";
import {
  editAgain,
  createTalk,
  keepSettings,
  openPlayable,
  talk,
  untilPlayed,
} from "./played-page.ts";

let pages: TestPages;
let name = "";
before(async () => {
  pages = await openTestPages();
  name = await createTalk(pages);
});
after(() => pages[Symbol.asyncDispose]());

test("Ctrl+G goes to a time, and says what is wrong with one", async () => {
  await using page = await openPlayable(pages, name);
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
  await using page = await openPlayable(pages, name);
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
    await using page = await openPlayable(pages, name);
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
  await using page = await openPlayable(pages, name);
  await page.waitForFunction("document.querySelector('.words-text').spellcheck === false");
  await page.keyboard.press("F9");
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
  await page.keyboard.press("F9");
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.closest('[contenteditable]')"), null);
});

test("the dialog of keys is usable in each look", async () => {
  await using page = await openPlayable(pages, name);
  await page.keyboard.press("Shift+F1");
  await page.getByRole("dialog").waitFor();
  await checkLooks(page, "editor-settings", someLooks);
});

test("F6 always leaves the text: it cannot be removed, nor given to another command", async () => {
  await using page = await openPlayable(pages, name);
  await page.keyboard.press("Shift+F1");
  const dialog = page.getByRole("dialog");
  const nextRegion = "Í næsta hluta síðunnar";
  const add = dialog.getByRole("button", { name: "Bæta við lykli: Leita", exact: true });
  await dialog.getByRole("button", { name: `Bæta við lykli: ${nextRegion}` }).waitFor();
  assert.equal(await dialog.getByRole("button", { name: /Fjarlægja F6/ }).count(), 0);
  await add.click();
  await page.keyboard.press("F6");
  await dialog.getByText("F6 fer alltaf út úr textanum").waitFor();
  await dialog.getByRole("button", { name: "Loka" }).click();
  await dialog.waitFor({ state: "detached" });
  // Settings that an earlier version of the console has kept.
  await keepSettings(page, { keys: { nextRegion: [], find: ["F6"] } });
  await page.reload();
  await editAgain(page);
  await page.keyboard.press("F6");
  await until(() => page.evaluate("!document.activeElement.closest('[contenteditable]')"));
  assert.equal(await page.getByRole("textbox", { name: "Leita að" }).count(), 0);
});

test("the sheet of shortcuts has the editor's keys as they were chosen, E, and the keys of reading", async () => {
  await using page = await openPlayable(pages, name);
  await keepSettings(page, { keys: { find: ["F10"] } });
  await page.reload();
  await page.getByRole("button", { name: "Flýtilyklar", exact: true }).waitFor();
  const sheet = page.getByRole("dialog");
  const keysOf = async (name: string): Promise<string> => {
    const line = sheet.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });
    return (await line.locator("kbd").allTextContents()).join(" ");
  };
  await page.keyboard.press("?");
  await sheet.waitFor();
  assert.equal(await keysOf("Breyta textanum"), "E");
  assert.equal(await sheet.getByText("Leita", { exact: true }).count(), 0);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  await editAgain(page);
  await page.keyboard.press("F6");
  await page.getByRole("button", { name: "Flýtilyklar", exact: true }).click();
  await sheet.getByText("Leita", { exact: true }).waitFor();
  assert.equal(await keysOf("Leita"), "F10");
  assert.equal(await keysOf("Spila frá bendlinum, eða gera hlé"), "Tab Ctrl + Space");
  assert.equal(await keysOf("Breyta textanum"), "E");
  assert.equal(await keysOf("Sýna flýtilyklana"), "?");
});

test("a key turns the spelling checker on and off again, and the choice is kept", async () => {
  await using page = await openPlayable(pages, name);
  await keepSettings(page, {});
  await page.reload();
  await editAgain(page);
  const isChecked = (isSo: boolean) =>
    until(() => page.evaluate(`document.querySelector('.words-text').spellcheck === ${isSo}`));
  const isKept = (isSo: boolean) =>
    until(async () => JSON.stringify(await keptKeys()).includes(`"checksSpelling":${isSo}`));
  await page.keyboard.press("Control+F7");
  await isChecked(true);
  await isKept(true);
  await page.keyboard.press("Control+F7");
  await isChecked(false);
  await isKept(false);
});

test("AltGr, dead keys and keys during a composition belong to the text, whatever keys were chosen", async () => {
  await using page = await openPlayable(pages, name);
  // What the keys below would be called if they were no part of the text.
  const chosen = ["Ctrl+Q", "Ctrl+Alt+@", "Ctrl+Alt+2", "Alt+Dead", "Alt+2", "Dead", "F10"];
  await keepSettings(page, { keys: { find: chosen } });
  await page.reload();
  await editAgain(page);
  const panel = page.getByRole("textbox", { name: "Leita að" });
  const before = await textsOf(page);
  const [first = ""] = before;
  await placeCaret(page, 0, 3);
  const [altKey, ctrlKey] = [1, 2];
  // Windows reports AltGr as Ctrl and Alt.
  await pressRaw(page, { key: "@", code: "KeyQ", modifiers: altKey | ctrlKey, keyCode: 81 });
  await pressRaw(page, { key: "²", code: "Digit2", modifiers: altKey | ctrlKey, keyCode: 50 });
  await pressRaw(page, { key: "Dead", code: "Digit2", modifiers: altKey, keyCode: 229 });
  await pressRaw(page, { key: "Dead", code: "KeyQ", modifiers: 0, keyCode: 229 });
  {
    await using composition = await composed(page, "´");
    // Input methods report "Process"; some browsers report the key itself.
    await pressRaw(page, { key: "Process", code: "F10", modifiers: 0, keyCode: 229 });
    await pressRaw(page, { key: "F10", code: "F10", modifiers: 0, keyCode: 121 });
    await pressRaw(page, { key: "q", code: "KeyQ", modifiers: ctrlKey, keyCode: 81 });
    await composition.commit("á");
  }
  await untilTexts(page, before.with(0, `${first.slice(0, 3)}á${first.slice(3)}`));
  assert.equal(await panel.count(), 0);
  await pressRaw(page, { key: "q", code: "KeyQ", modifiers: ctrlKey, keyCode: 81 });
  await panel.waitFor();
});

/** Presses a key as the browser reports it, without typing. */
async function pressRaw(
  page: Page,
  {
    keyCode,
    ...key
  }: {
    readonly key: string;
    readonly code: string;
    readonly modifiers: number;
    readonly keyCode: number;
  },
): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["rawKeyDown", "keyUp"] as const) {
    const windowsVirtualKeyCode = keyCode;
    await devtools.send("Input.dispatchKeyEvent", { type, ...key, windowsVirtualKeyCode });
  }
  await devtools.detach();
}

async function keptKeys(): Promise<unknown> {
  await using page = await pages.open("/");
  return await page.evaluate("fetch('/console/settings').then((answer) => answer.json())");
}
