import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { createInterview, turns } from "./edited-transcript.ts";
import type { TestPages } from "./open-test-pages.ts";

/** The paragraphs of the interview. */
export const said = turns.map(([, text]) => text);

/** Opens a transcript and begins to edit it. The user is signed in with the first key, or `key`. */
export async function openEditing(
  pages: TestPages,
  name: string,
  segments = said.length,
  key = pages.service.key,
): Promise<Page> {
  const page = await pages.open(`/${name}`, { key });
  await beginEditing(page, segments);
  return page;
}

/** Begins to edit the transcript that a page shows. */
export async function beginEditing(page: Page, segments = said.length): Promise<void> {
  await page
    .locator(".segment")
    .nth(segments - 1)
    .waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
}

/** Creates a transcript of the interview, and begins to edit it. */
export async function openInterview(pages: TestPages): Promise<Page> {
  return await openEditing(pages, await createInterview(pages.service));
}

/** Saves, and waits until nothing is unsaved. */
export async function save(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.getByText("Engar óvistaðar breytingar").waitFor();
}

/** Returns the texts of the paragraphs. */
export function textsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    `Array.from(document.querySelectorAll(".segment p"), (p) => p.textContent)`,
  );
}

/**
 * Types a text that one undo takes back, apart from what was typed before. On a busy machine,
 * letters are more than the half second apart that begins another step, so no time passes meanwhile
 * in the page.
 */
export async function typeAsStep(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const { now } = Date;
    const at = Math.max(now(), globalThis.typedAt ?? 0) + 1_000;
    globalThis.typedAt = at;
    Date.now = () => at;
    globalThis.endStep = () => void (Date.now = now);
  })()`);
  await page.keyboard.type(text);
  await page.evaluate("endStep()");
}

/** Returns the paragraph and the offset of the caret, or of the end of the selection. */
export function caretOf(page: Page): Promise<{ paragraph: number; offset: number }> {
  return page.evaluate(`(() => {
    const { focusNode, focusOffset } = getSelection();
    const p = (focusNode instanceof Text ? focusNode.parentElement : focusNode).closest("p");
    const range = document.createRange();
    range.setStart(p, 0);
    range.setEnd(focusNode, focusOffset);
    return { paragraph: [...document.querySelectorAll(".segment p")].indexOf(p), offset: range.toString().length };
  })()`);
}

/** How long a click has to place the caret, in ms. A second click before would select a word. */
const clickMs = 1_500;

/**
 * Clicks before the character at an offset of a paragraph, and waits for the caret there. While the
 * page still moves the text, the click lands somewhere else, and is repeated.
 */
export async function placeCaret(page: Page, paragraph: number, offset: number): Promise<void> {
  for (let clicks = 1; ; clicks += 1) {
    const at = await pointOf(page, paragraph, offset);
    await page.mouse.click(at.x, at.y);
    try {
      await until(async () => {
        const caret = await caretOf(page);
        return caret.paragraph === paragraph && caret.offset === offset;
      }, clickMs);
      return;
    } catch (error) {
      if (clicks === 5) throw error;
    }
  }
}

/** Returns the point on the screen before the character at an offset of a paragraph. */
export function pointOf(
  page: Page,
  paragraph: number,
  offset: number,
): Promise<{ x: number; y: number }> {
  return page.evaluate(`(() => {
    const p = document.querySelectorAll(".segment p")[${paragraph}];
    p.scrollIntoView({ block: "nearest" });
    const range = document.createRange();
    const isEnd = ${offset} === p.firstChild.length;
    range.setStart(p.firstChild, isEnd ? ${offset} - 1 : ${offset});
    range.setEnd(p.firstChild, isEnd ? ${offset} : ${offset} + 1);
    const { left, right, top, bottom } = range.getClientRects()[0];
    return { x: isEnd ? right - 0.5 : left + 0.5, y: (top + bottom) / 2 };
  })()`);
}

/** Selects from one place to another with the keyboard's Shift and the mouse. */
export async function select(
  page: Page,
  from: readonly [number, number],
  to: readonly [number, number],
): Promise<void> {
  await placeCaret(page, ...from);
  const end = await pointOf(page, ...to);
  await page.keyboard.down("Shift");
  await page.mouse.click(end.x, end.y);
  await page.keyboard.up("Shift");
}

/** Waits until the paragraphs have these texts. */
export async function untilTexts(page: Page, expected: readonly string[]): Promise<void> {
  let texts: string[] = [];
  try {
    await until(async () => {
      texts = await textsOf(page);
      return JSON.stringify(texts) === JSON.stringify(expected);
    }, 5_000);
  } catch {
    assert.deepEqual(texts, expected);
  }
}

/** Returns the texts with some replaced. */
export function withTexts(changed: Readonly<Record<number, string>>): string[] {
  return said.map((text, at) => changed[at] ?? text);
}

export const [first = "", second = "", third = "", fourth = ""] = said;

/** Returns the drafts that the browser has stored. */
export async function draftsIn(page: Page): Promise<string> {
  return await page.evaluate<string>(`new Promise((resolve) => {
    indexedDB.open("hlust-drafts").onsuccess = ({ target: { result: database } }) => {
      const request = database.transaction("drafts").objectStore("drafts").getAll();
      request.onsuccess = () => resolve(JSON.stringify(request.result));
      request.transaction.oncomplete = () => database.close();
    };
  })`);
}
