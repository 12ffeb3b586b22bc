// The keys of the editor, what they play, and how users change them, in Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { composed } from "./compose.ts";
import { caretOf, openEditing, placeCaret, textsOf, untilTexts } from "./edited-page.ts";
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

test("F6 always leaves the text: it cannot be removed, nor given to another command", async () => {
  await using page = await openPlayable();
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
  await using page = await openPlayable();
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
  await using page = await openPlayable();
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

test("a pause jumps back as far as was chosen, to 0.2 s, by a key and by a media key", async () => {
  await using page = await openPlayable();
  await keepSettings(page, {});
  await page.reload();
  await editAgain(page);
  await page.getByRole("button", { name: "Lyklar og stillingar" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Til baka við hlé").selectOption("3");
  await dialog.getByRole("button", { name: "Loka" }).click();
  await dialog.waitFor({ state: "detached" });
  await notePauses(page);
  const jumpsBack = async (press: () => Promise<unknown>): Promise<void> => {
    await page.evaluate(`document.querySelector("video").currentTime = 8`);
    await untilPlayed(page, ({ place }) => place === 8);
    await page.keyboard.press("F4");
    await untilPlayed(page, ({ isPlaying, place }) => isPlaying && place > 8.3);
    await press();
    await assertJump(page, 3);
  };
  await jumpsBack(() => page.keyboard.press("F4"));
  await jumpsBack(() => pressMediaKey(page, "MediaPlayPause"));
});

test("two quick presses of a key count as two", async () => {
  await using page = await openPlayable();
  const press = `document.querySelector(".words-text").dispatchEvent(
    new KeyboardEvent("keydown", { key: "F4", code: "F4", bubbles: true, cancelable: true }))`;
  await page.evaluate(
    `(() => { window.plays = 0; document.querySelector("video").addEventListener("play", () => { window.plays += 1; }); })()`,
  );
  // Both come before the element reports that it plays.
  await page.evaluate(`${press}; ${press}`);
  await until(() => page.evaluate("window.plays === 1"));
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  await page.evaluate(`${press}; ${press}; ${press}`);
  await untilPlayed(page, ({ isPlaying }) => isPlaying);
});

test("media keys and the device's controls act as the editor's own commands while a text is edited", async () => {
  await using page = await openPlayable();
  await keepSettings(page, {});
  await page.addInitScript(`(() => {
    window.mediaActions = {};
    const { setActionHandler } = MediaSession.prototype;
    MediaSession.prototype.setActionHandler = function (action, handler) {
      window.mediaActions[action] = handler;
      setActionHandler.call(this, action, handler);
    };
  })()`);
  await page.reload();
  await until(() => page.evaluate("window.mediaActions?.previoustrack !== undefined"));
  const act = (action: string, details = {}) =>
    page.evaluate(
      `window.mediaActions[${JSON.stringify(action)}](${JSON.stringify({ action, ...details })})`,
    );
  const isAt = (seconds: number) =>
    untilPlayed(page, ({ place }) => Math.abs(place - seconds) < 0.01);
  await until(() => page.evaluate("document.querySelector('video')?.readyState > 0"));
  await act("seekto", { seekTime: 10 });
  await isAt(10);
  // While a text is read, they move as the player does.
  await act("nexttrack");
  await isAt(15);
  await act("previoustrack");
  await isAt(10);
  await editAgain(page);
  await act("nexttrack");
  await isAt(12);
  await act("seekforward");
  await isAt(14);
  await act("seekbackward");
  await isAt(12);
  await act("seekbackward", { seekOffset: 4 });
  await isAt(8);
  await act("previoustrack");
  await isAt(6);
  await pressMediaKey(page, "MediaTrackNext");
  await isAt(8);
  await act("play");
  await untilPlayed(page, ({ isPlaying, place }) => isPlaying && place > 8.5);
  // A device that shows an old state may ask for what is so already.
  await act("play");
  assert.equal((await played(page)).isPlaying, true);
  await notePauses(page);
  await act("pause");
  await assertJump(page, 1);
  const paused = await played(page);
  await act("pause");
  await isAt(paused.place);
  // The keys that a user has chosen count for the device's controls as well.
  await keepSettings(page, { keys: { goToTime: ["MediaTrackNext"] } });
  await page.reload();
  await editAgain(page);
  await act("nexttrack");
  await page.getByRole("textbox", { name: "Tími" }).waitFor();
});

test("AltGr, dead keys and keys during a composition belong to the text, whatever keys were chosen", async () => {
  await using page = await openPlayable();
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

test("characters are composed while the highlight moves", async () => {
  await using page = await openPlayable();
  const before = await textsOf(page);
  const [first = ""] = before;
  const highlighted = () =>
    page.evaluate<string>(
      `Array.from(CSS.highlights.get("hlust-now") ?? [], ({ startContainer, startOffset, endOffset }) =>
        startContainer.data.slice(startOffset, endOffset)).join("")`,
    );
  await placeCaret(page, 0, 6);
  await page.keyboard.press("F4");
  await until(async () => (await highlighted()) !== "");
  const seen = new Set<string>();
  {
    await using composition = await composed(page, "´");
    await until(async () => seen.add(await highlighted()).size > 2);
    await composition.change("¨");
    await until(async () => seen.add(await highlighted()).size > 4);
    await composition.commit("ö");
  }
  await untilTexts(page, before.with(0, `${first.slice(0, 6)}ö${first.slice(6)}`));
  await page.keyboard.press("Control+z");
  await untilTexts(page, before);
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

/** Notes the place at which the element is paused, before a jump. */
async function notePauses(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const { pause } = HTMLMediaElement.prototype;
    HTMLMediaElement.prototype.pause = function () {
      window.pausedAt = this.currentTime;
      pause.call(this);
    };
  })()`);
}

/** Waits for a pause, and throws unless the place is this far before it, within 0.2 s. */
async function assertJump(page: Page, seconds: number): Promise<void> {
  await untilPlayed(page, ({ isPlaying }) => !isPlaying);
  await until(() => page.evaluate("!document.querySelector('video').seeking"));
  const { place } = await played(page);
  const pausedAt = await page.evaluate<number>("window.pausedAt");
  assert.ok(Math.abs(pausedAt - place - seconds) < 0.2, `${pausedAt} to ${place}`);
}

/**
 * Keeps settings of the editor, as another browser of the user would. The spelling checker is off,
 * by which editAgain() knows that the page has them.
 */
async function keepSettings(page: Page, chosen: object): Promise<void> {
  const editing = { checksSpelling: false, ...chosen };
  const body = JSON.stringify(JSON.stringify({ settings: { editing } }));
  const status = await page.evaluate(`(async () => {
    const headers = { "content-type": "application/json", "x-hlust-console": "1" };
    const { account, actor } = await (await fetch("/console/session", { headers })).json();
    headers["x-hlust-console-for"] = account.name + " " + actor;
    return (await fetch("/console/settings", { method: "PUT", headers, body: ${body} })).status;
  })()`);
  assert.equal(status, 200);
}

/** Begins to edit with the kept settings, after the page was loaded again. */
async function editAgain(page: Page): Promise<void> {
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await until(() => page.evaluate("document.querySelector('video, audio')?.readyState > 0"));
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  await until(() => page.evaluate("document.querySelector('.words-text').spellcheck === false"));
}

/** Presses a media key on the keyboard. */
async function pressMediaKey(page: Page, key: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["rawKeyDown", "keyUp"] as const) {
    await devtools.send("Input.dispatchKeyEvent", { type, key, code: key });
  }
  await devtools.detach();
}

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
