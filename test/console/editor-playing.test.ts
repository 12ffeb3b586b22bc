// What the editor plays: by keys, by media keys, and while the user types. In Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { composed } from "./compose.ts";
import { placeCaret, textsOf, untilTexts } from "./edited-page.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";
import {
  createTalk,
  editAgain,
  keepSettings,
  openPlayable,
  played,
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

const first = talk.segments[0]?.words ?? [];
const startOf = (word: number): number => Number.parseFloat(first[word]?.startTime ?? "");

test("keys play from the caret, pause with a jump back, skip, and change the speed in tenths", async () => {
  await using page = await openPlayable(pages, name);
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
  // While it plays, the key plays the same sentence again, wherever the caret is.
  for (let tenths = 0; tenths < 20; tenths++) await page.keyboard.press("F3");
  await untilPlayed(page, ({ rate }) => rate === 0.5);
  await page.keyboard.press("Control+End");
  await untilPlayed(page, ({ place }) => place > startOf(2) + 2);
  await page.keyboard.press("Shift+Tab");
  await untilPlayed(page, ({ place }) => place < startOf(2) + 1.5);
  const again = await played(page);
  assert.ok(again.isPlaying && again.place >= startOf(2) - 0.05, JSON.stringify(again));
  assert.deepEqual(
    await textsOf(page),
    talk.segments.map(({ words }) => words.map(({ word }) => word).join("")),
  );
});

test("a pause jumps back as far as was chosen, to 0.2 s, by a key and by a media key", async () => {
  await using page = await openPlayable(pages, name);
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
  // A tab that is not in front has no frames, by which the place is followed otherwise.
  await page.evaluate("window.requestAnimationFrame = () => 0; 0");
  await jumpsBack(() => pressMediaKey(page, "MediaPlayPause"));
});

test("two quick presses of a key count as two", async () => {
  await using page = await openPlayable(pages, name);
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
  await using page = await openPlayable(pages, name);
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

test("characters are composed while the highlight moves", async () => {
  await using page = await openPlayable(pages, name);
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

/** Presses a media key on the keyboard. */
async function pressMediaKey(page: Page, key: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  for (const type of ["rawKeyDown", "keyUp"] as const) {
    await devtools.send("Input.dispatchKeyEvent", { type, key, code: key });
  }
  await devtools.detach();
}

test("typing pauses the playback until a second after the last character, if chosen", async () => {
  await using page = await openPlayable(pages, name);
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
