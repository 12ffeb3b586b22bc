import fc from "fast-check";
import type { CDPSession, Page } from "playwright-core";
import type { Base } from "../../src/console/transcript/edit/model/base.ts";
import {
  divided,
  EditModel,
  lengthOfWordsBefore,
  merged,
  movedBack,
  movedForward,
  pasted,
  type Place,
  replaced,
  startOfWordsAfter,
} from "../fixtures/edit-model.ts";
import { textsOf } from "./edited-page.ts";

const moves = [
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "ArrowDown",
  "Home",
  "End",
  "Control+ArrowLeft",
  "Control+ArrowRight",
  "Control+Home",
  "Control+End",
  "PageUp",
  "PageDown",
] as const;

const changes = [
  "Enter",
  "Backspace",
  "Delete",
  "cut",
  "paste",
  "undo",
  "redo",
  "words back",
  "words forward",
] as const;

type Change = (typeof changes)[number];

/** What a user does with keys. */
export type Typing =
  | { readonly kind: "move" | "extend"; readonly key: string; readonly times: number }
  | { readonly kind: "type"; readonly text: string }
  | { readonly kind: "type over all"; readonly text: string }
  | { readonly kind: Change };

const text = fc.constantFrom("x", "já ", " nei.", "æðey", "ö þ", "a b c", "😀", " ");
const move = fc.record({ key: fc.constantFrom(...moves), times: fc.integer({ min: 1, max: 9 }) });

/** Draws what a user does with keys. The caret is moved before most changes. */
export const drawnTyping: fc.Arbitrary<Typing> = fc.oneof(
  { weight: 12, arbitrary: move.map((drawn) => ({ kind: "move" as const, ...drawn })) },
  { weight: 6, arbitrary: move.map((drawn) => ({ kind: "extend" as const, ...drawn })) },
  { weight: 8, arbitrary: text.map((text) => ({ kind: "type" as const, text })) },
  { weight: 1, arbitrary: text.map((text) => ({ kind: "type over all" as const, text })) },
  { weight: 18, arbitrary: fc.constantFrom(...changes).map((kind) => ({ kind })) },
);

interface Selection {
  readonly from: Place;
  readonly to: Place;
}

/** An edited text on a page, whose keys also change a model of the text. */
export class TypedText {
  readonly #page: Page;
  readonly #devtools: CDPSession;
  readonly #model: EditModel;
  readonly #base: Base;
  #cut: readonly string[] = [];

  private constructor(page: Page, devtools: CDPSession, model: EditModel, base: Base) {
    this.#page = page;
    this.#devtools = devtools;
    this.#model = model;
    this.#base = base;
  }

  /**
   * Opens the text of a page. What is typed within half a second is one step of undo, so the clock
   * of the page stops, and advances only between commands.
   */
  static async open(page: Page, model: EditModel, base: Base): Promise<TypedText> {
    const devtools = await page.context().newCDPSession(page);
    await page.evaluate(`(() => {
      let now = Date.now();
      Date.now = () => now;
      globalThis.passTestTime = () => { now += 2_000; };
    })()`);
    await page.keyboard.press("Control+Home");
    return new TypedText(page, devtools, model, base);
  }

  /** Presses the keys of a command, and changes the model as they should change the text. */
  async run(command: Typing): Promise<void> {
    await this.#page.evaluate("passTestTime()");
    const { kind } = command;
    switch (kind) {
      case "move":
      case "extend": {
        const key = kind === "extend" ? `Shift+${command.key}` : command.key;
        for (let time = 0; time < command.times; time += 1) await this.#page.keyboard.press(key);
        return;
      }
      case "type":
        await this.#type(command.text, await this.#selection());
        return;
      case "type over all": {
        await this.#page.keyboard.press("Control+a");
        const last = this.#model.text.paragraphs.length - 1;
        const to = { paragraph: last, offset: this.#model.at(last).text.length };
        await this.#type(command.text, { from: { paragraph: 0, offset: 0 }, to });
        return;
      }
      case "undo":
        await this.#page.keyboard.press("Control+z");
        this.#model.undo();
        return;
      case "redo":
        await this.#page.keyboard.press("Control+y");
        this.#model.redo();
        return;
      case "Enter":
      case "Backspace":
      case "Delete":
      case "cut":
      case "paste":
      case "words back":
      case "words forward":
        await this.#change(kind);
    }
  }

  async #change(kind: Exclude<Change, "undo" | "redo">): Promise<void> {
    const selection = await this.#selection();
    const { from, to } = selection;
    const isEmpty = from.paragraph === to.paragraph && from.offset === to.offset;
    switch (kind) {
      case "Enter": {
        await this.#page.keyboard.press("Enter");
        const model = this.#model;
        const paragraphs = isEmpty ? model.text.paragraphs : replaced(model, from, to, "");
        const rest = new EditModel(paragraphs, model.text.speakers);
        model.change(divided(rest, from));
        return;
      }
      case "Backspace":
        await this.#page.keyboard.press("Backspace");
        if (isEmpty) await this.#deleteBack(from);
        else this.#delete(selection);
        return;
      case "Delete":
        await this.#page.keyboard.press("Delete");
        if (isEmpty) await this.#deleteForward(from);
        else this.#delete(selection);
        return;
      case "cut":
        await this.#page.keyboard.press("Control+x");
        if (isEmpty) return;
        this.#cut = this.#linesIn(selection);
        this.#delete(selection);
        return;
      case "paste":
        if (this.#cut.length === 0) return;
        await this.#page.keyboard.press("Control+v");
        this.#model.change(pasted(this.#model, from, to, this.#cut));
        return;
      case "words back":
        await this.#page.keyboard.press("Alt+Shift+ArrowUp");
        if (isEmpty) await this.#moveBack(from);
        return;
      case "words forward":
        await this.#page.keyboard.press("Alt+Shift+ArrowDown");
        if (isEmpty) await this.#moveForward(from);
    }
  }

  async #type(text: string, { from, to }: Selection): Promise<void> {
    for (const letter of text) await this.#typeLetter(letter);
    this.#model.change(replaced(this.#model, from, to, text));
  }

  async #typeLetter(letter: string): Promise<void> {
    // No key types an emoji; it is chosen from a list.
    if (letter.length > 1) {
      await this.#page.keyboard.insertText(letter);
      return;
    }
    const key = { key: letter, ...(letter === " " && { code: "Space" }) };
    await this.#devtools.send("Input.dispatchKeyEvent", { type: "keyDown", text: letter, ...key });
    await this.#devtools.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
  }

  #delete({ from, to }: Selection): void {
    this.#model.change(replaced(this.#model, from, to, ""));
  }

  async #deleteBack(at: Place): Promise<void> {
    const { paragraph, offset } = at;
    if (offset === 0) {
      await this.#merge(paragraph - 1);
      return;
    }
    const letter = Array.from(this.#model.at(paragraph).text.slice(0, offset)).at(-1) ?? "";
    this.#delete({ from: { paragraph, offset: offset - letter.length }, to: at });
  }

  async #deleteForward(at: Place): Promise<void> {
    const { paragraph, offset } = at;
    const [letter] = this.#model.at(paragraph).text.slice(offset);
    if (letter === undefined) await this.#merge(paragraph);
    else this.#delete({ from: at, to: { paragraph, offset: offset + letter.length } });
  }

  /** Joins a paragraph with the next one. A word that was divided gets no space. */
  async #merge(index: number): Promise<void> {
    const { paragraphs } = this.#model.text;
    const [one, next] = [paragraphs[index], paragraphs[index + 1]];
    if (!one || !next) return;
    const word = `${/\S*$/.exec(one.text)?.[0]}${/^\S*/.exec(next.text)?.[0]}`;
    const wasWord = this.#base.words.some((known) => known.word?.trim() === word);
    const isOneWord = wasWord && (await textsOf(this.#page))[index] === one.text + next.text;
    this.#model.change(merged(this.#model, index, isOneWord));
  }

  async #moveBack({ paragraph, offset }: Place): Promise<void> {
    const { text } = this.#model.at(paragraph);
    const length = lengthOfWordsBefore(text, offset);
    if (length === 0 || paragraph === 0) return;
    if (length === text.length) await this.#merge(paragraph - 1);
    else this.#model.change(movedBack(this.#model, paragraph, length));
  }

  async #moveForward({ paragraph, offset }: Place): Promise<void> {
    const { paragraphs } = this.#model.text;
    const { text } = this.#model.at(paragraph);
    const start = startOfWordsAfter(text, offset);
    if (start === undefined || paragraph + 1 === paragraphs.length) return;
    if (text.slice(0, start).trim() === "") await this.#merge(paragraph);
    else this.#model.change(movedForward(this.#model, paragraph, start));
  }

  /** Returns the lines that are cut with a selection. */
  #linesIn({ from, to }: Selection): string[] {
    const texts = this.#model.text.paragraphs.slice(from.paragraph, to.paragraph + 1);
    const lines = texts.map(({ text }, at) => {
      const end = at === texts.length - 1 ? to.offset : text.length;
      return text.slice(at === 0 ? from.offset : 0, end);
    });
    return lines.length === 1 ? lines : lines.filter((line) => line.trim() !== "");
  }

  /** Returns the selection on the page, in the order of the text. */
  #selection(): Promise<Selection> {
    return this.#page.evaluate<Selection>(`(() => {
      const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
      const paragraphs = [...document.querySelectorAll(".segment p")];
      const placeOf = (node, offset) => {
        const element = node instanceof Text ? node.parentElement : node;
        const p = element.closest("p") ?? element.closest(".segment").querySelector("p");
        const range = document.createRange();
        range.setStart(p, 0);
        // Before the margin of the first paragraph, the caret is at the start of its text.
        range.setEnd(node, offset);
        return { paragraph: paragraphs.indexOf(p), offset: range.toString().length };
      };
      const [one, other] = [placeOf(anchorNode, anchorOffset), placeOf(focusNode, focusOffset)];
      const isForward = one.paragraph < other.paragraph ||
        (one.paragraph === other.paragraph && one.offset <= other.offset);
      return isForward ? { from: one, to: other } : { from: other, to: one };
    })()`);
  }
}
