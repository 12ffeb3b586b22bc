import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { caretOf } from "./edited-page.ts";
import type { Correction } from "./word-corrections.ts";

interface Place {
  readonly paragraph: number;
  readonly offset: number;
}

/** A keyboard at an edited text. Each key, and each chord such as Ctrl+S, counts as one. */
export class Keystrokes {
  readonly #page: Page;
  #count = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  get count(): number {
    return this.#count;
  }

  async press(key: string): Promise<void> {
    this.#count += 1;
    await this.#page.keyboard.press(key);
  }

  /** Makes corrections, which are in the order of the text. */
  async correct(corrections: readonly Correction[]): Promise<void> {
    let shift = { paragraph: -1, by: 0 };
    for (const { paragraph, from, to, text } of corrections) {
      if (paragraph !== shift.paragraph) shift = { paragraph, by: 0 };
      await this.#replace({ paragraph, from: from + shift.by, to: to + shift.by, text });
      shift.by += text.length - (to - from);
    }
  }

  async #replace({ paragraph, from, to, text }: Correction): Promise<void> {
    if (to - from <= 2) {
      await this.moveTo({ paragraph, offset: to });
      for (let at = from; at < to; at += 1) await this.press("Backspace");
    } else {
      await this.moveTo({ paragraph, offset: from });
      await this.#selectTo({ paragraph, offset: to });
      if (text === "") await this.press("Backspace");
    }
    await this.type(text);
    await this.untilAt({ paragraph, offset: from + text.length });
  }

  /** Types text; each letter is a key. */
  async type(text: string): Promise<void> {
    for (const letter of text) await this.press(letter === " " ? "Space" : letter);
  }

  /** Moves the caret by lines, then by words, then by letters. */
  async moveTo(place: Place): Promise<void> {
    for (let at = await caretOf(this.#page); !isAt(at, place);) {
      const key = (await this.#keyToLine(at, place)) ?? (await this.#keyInLine(at, place));
      at = await this.#pressToMove(key, at);
    }
  }

  /** Moves the caret down to a paragraph. */
  async moveToParagraph(paragraph: number): Promise<void> {
    for (let at = await caretOf(this.#page); at.paragraph < paragraph;) {
      at = await this.#pressToMove("ArrowDown", at);
    }
  }

  /** Extends the selection by words, then by letters. */
  async #selectTo(place: Place): Promise<void> {
    for (let at = await caretOf(this.#page); !isAt(at, place);) {
      const { offset } = at;
      const word = /^\s*\S+/.exec((await this.#textOf(place.paragraph)).slice(offset))?.[0] ?? "";
      const isWhole = word !== "" && offset + word.length <= place.offset;
      at = await this.#pressToMove(isWhole ? "Control+Shift+ArrowRight" : "Shift+ArrowRight", at);
    }
  }

  /** Presses a key that moves the caret, and returns the caret's new place. */
  async #pressToMove(key: string, from: Place): Promise<Place> {
    await this.press(key);
    let at: Place = from;
    await until(async () => {
      at = await caretOf(this.#page);
      return !isAt(at, from);
    }, 5_000);
    return at;
  }

  /** Waits until the caret is at a place. */
  async untilAt(place: Place): Promise<void> {
    let at: Place | undefined;
    const wait = until(async () => {
      at = await caretOf(this.#page);
      return isAt(at, place);
    }, 5_000);
    await wait.catch(() => assert.deepEqual(at, place));
  }

  /** Returns the key that moves the caret to the line of a place, unless it is there. */
  async #keyToLine(at: Place, place: Place): Promise<string | undefined> {
    if (at.paragraph !== place.paragraph) {
      return at.paragraph < place.paragraph ? "ArrowDown" : "ArrowUp";
    }
    const [here, there] = await this.#linesOf(place.paragraph, [at.offset, place.offset]);
    if (here === undefined || there === undefined || here === there) return undefined;
    return here < there ? "ArrowDown" : "ArrowUp";
  }

  /** Returns the key that brings the caret nearest to a place of its line. */
  async #keyInLine(at: Place, { paragraph, offset }: Place): Promise<string> {
    const text = await this.#textOf(paragraph);
    if (offset > at.offset) {
      if (offset === text.length && at.offset < text.length - 1) return "End";
      const word = /^\s*\S+/.exec(text.slice(at.offset))?.[0] ?? "";
      const left = offset - at.offset;
      return word.length > 1 && word.length <= left ? "Control+ArrowRight" : "ArrowRight";
    }
    const left = at.offset - offset;
    if (offset === 0 && left > 1) return "Home";
    const word = /\S+\s*$/.exec(text.slice(0, at.offset))?.[0] ?? "";
    return word.length > 1 && word.length <= left ? "Control+ArrowLeft" : "ArrowLeft";
  }

  #textOf(paragraph: number): Promise<string> {
    return this.#page.evaluate(`document.querySelectorAll(".segment p")[${paragraph}].textContent`);
  }

  /** Returns the heights on the screen of the characters at offsets of a paragraph. */
  #linesOf(paragraph: number, offsets: readonly number[]): Promise<number[]> {
    return this.#page.evaluate(`(() => {
      const p = document.querySelectorAll(".segment p")[${paragraph}];
      if (!(p.firstChild instanceof Text)) return [0, 0];
      return ${JSON.stringify(offsets)}.map((offset) => {
        const range = document.createRange();
        const from = Math.max(0, Math.min(offset, p.firstChild.length - 1));
        range.setStart(p.firstChild, from);
        range.setEnd(p.firstChild, Math.min(from + 1, p.firstChild.length));
        return Math.round(range.getBoundingClientRect().top);
      });
    })()`);
  }
}

function isAt(one: Place, other: Place): boolean {
  return one.paragraph === other.paragraph && one.offset === other.offset;
}
