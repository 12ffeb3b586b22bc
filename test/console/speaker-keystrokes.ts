import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { until } from "../fixtures/until.ts";
import { textsOf } from "./edited-page.ts";
import type { Keystrokes } from "./keystrokes.ts";
import type { SpokenWord } from "./word-corrections.ts";

/** A paragraph, or a part of one, that one voice says. `offset` is where it begins. */
interface Part {
  readonly paragraph: number;
  readonly offset: number;
  readonly voice: string;
}

/**
 * Sets the speakers of an edited text that has none, with keys only; its words are those that are
 * said by two voices. Paragraphs in which the voice changes are divided. Returns the number of
 * paragraphs after that.
 */
export async function setSpeakers(
  page: Page,
  keys: Keystrokes,
  {
    said,
    names,
  }: { readonly said: readonly SpokenWord[]; readonly names: Readonly<Record<string, string>> },
): Promise<number> {
  const palette = new Palette(page, keys);
  const parts = partsOf(await textsOf(page), said);
  const one = parts[0]?.voice ?? "";
  await keys.press("Control+Home");
  // Everything is said by one, until others are chosen. The digit of a speaker is its place in the
  // order in which they first speak.
  await palette.add("Shift+F8", names[one] ?? "");
  let isOtherKnown = false;
  for (const [index, { paragraph, offset, voice }] of parts.entries()) {
    const before = parts[index - 1];
    const isDivided = offset > 0;
    if (isDivided) {
      const start = before?.paragraph === paragraph ? before.offset : 0;
      await keys.moveTo({ paragraph: index - 1, offset: offset - start });
      // Shift+Enter divides for the other of two speakers.
      await keys.press(isOtherKnown ? "Shift+Enter" : "Enter");
      await keys.untilAt({ paragraph: index, offset: 0 });
    } else {
      await keys.moveToParagraph(index);
    }
    if (voice === one ? !isDivided || isOtherKnown : isDivided && isOtherKnown) continue;
    if (isOtherKnown) await palette.choose("F8", "2");
    else await palette.add("F8", names[voice] ?? "");
    isOtherKnown = true;
  }
  return parts.length;
}

/** Returns the parts of paragraphs, each of one voice. */
function partsOf(texts: readonly string[], said: readonly SpokenWord[]): Part[] {
  const words = texts.flatMap((text, paragraph) =>
    Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => ({ word, paragraph, index })),
  );
  assert.deepEqual(
    words.map(({ word }) => word.toLowerCase()),
    said.map(({ text }) => text),
  );
  return words.flatMap(({ paragraph, index }, at) => {
    const voice = said[at]?.voice ?? "";
    const isFirst = words[at - 1]?.paragraph !== paragraph;
    if (!isFirst && said[at - 1]?.voice === voice) return [];
    return { paragraph, offset: isFirst ? 0 : index, voice };
  });
}

/** The palette of speakers, by keys. */
class Palette {
  readonly #page: Page;
  readonly #keys: Keystrokes;

  constructor(page: Page, keys: Keystrokes) {
    this.#page = page;
    this.#keys = keys;
  }

  async choose(command: string, digit: string): Promise<void> {
    await this.#open(command);
    await this.#keys.press(digit);
    await this.#untilClosed();
  }

  async add(command: string, name: string): Promise<void> {
    await this.#open(command);
    const isInField = () =>
      this.#page.evaluate<boolean>(
        `document.activeElement.matches("[role=dialog] input[type=text]")`,
      );
    for (let tabs = 0; !(await isInField()); tabs += 1) {
      assert.ok(tabs < 20, "the field for the name of a speaker is not reached");
      await this.#keys.press("Tab");
    }
    await this.#keys.type(name);
    await this.#keys.press("Enter");
    await this.#untilClosed();
  }

  async #open(command: string): Promise<void> {
    await this.#keys.press(command);
    await until(() => this.#isTrue(`document.activeElement.closest("[role=dialog]") !== null`));
  }

  async #untilClosed(): Promise<void> {
    await until(() =>
      this.#isTrue(`!document.querySelector("[role=dialog]") &&
        document.activeElement.matches(".words-text")`),
    );
  }

  #isTrue(expression: string): Promise<boolean> {
    return this.#page.evaluate<boolean>(expression);
  }
}
