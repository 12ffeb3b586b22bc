import { firstIndex } from "../../spoken-text.ts";
import { alignRun } from "./align-run.ts";
import type { Base, EditedParagraph } from "./base.ts";

/** A word of a paragraph of which the recognizer was unsure. */
export interface UnclearWord {
  /** The range of the word in the paragraph's text, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** An unclear word, and the index of its paragraph. */
export interface FoundUnclear {
  readonly paragraph: number;
  readonly word: UnclearWord;
}

/** A range in an edited text. */
export interface TextSpan {
  readonly from: { readonly paragraph: number; readonly offset: number };
  readonly to: { readonly paragraph: number; readonly offset: number };
}

/**
 * Finds the words of an edited text whose confidence is below a limit. A word that a person has
 * changed has none.
 */
export class UnclearWords {
  readonly base: Base;
  /** The unclear words of the base, in order. */
  readonly #words: Uint32Array;
  readonly #known = new WeakMap<EditedParagraph, readonly UnclearWord[]>();

  constructor(base: Base, below: number) {
    this.base = base;
    const words: number[] = [];
    for (const [at, { confidence }] of base.words.entries()) {
      if (typeof confidence === "number" && confidence < below) words.push(at);
    }
    this.#words = Uint32Array.from(words);
  }

  /** Returns the unclear words of a paragraph, in order. */
  in(paragraph: EditedParagraph): readonly UnclearWord[] {
    const known = this.#known.get(paragraph) ?? this.#find(paragraph);
    this.#known.set(paragraph, known);
    return known;
  }

  /**
   * Returns the first unclear word after a range, or the last one before it; after the last word of
   * the text follows the first one. Undefined if there are none. The search pauses in each
   * paragraph, since a text in which most unclear words were changed takes long.
   */
  *near(
    paragraphs: readonly EditedParagraph[],
    { from, to }: TextSpan,
    direction: 1 | -1,
  ): Generator<undefined, FoundUnclear | undefined> {
    const here = direction === 1 ? to : from;
    const count = paragraphs.length;
    // The paragraph at which the search begins is searched once more at its end.
    for (let step = 0; step <= count; step += 1) {
      const at = (here.paragraph + direction * step + count * 2) % count;
      const paragraph = paragraphs[at];
      const words = paragraph ? this.in(paragraph) : [];
      const isBeyond = (word: UnclearWord): boolean =>
        step > 0 || (direction === 1 ? word.from >= here.offset : word.to <= here.offset);
      const word = direction === 1 ? words.find(isBeyond) : words.findLast(isBeyond);
      if (word) return { paragraph: at, word };
      yield undefined;
    }
    return undefined;
  }

  #find(paragraph: EditedParagraph): readonly UnclearWord[] {
    const { from, to, text } = paragraph;
    const { words } = this.base;
    const first = firstIndex(this.#words.length, (at) => (this.#words[at] ?? 0) >= from);
    const unclear = new Set<number>();
    for (let at = first; (this.#words[at] ?? to) < to; at += 1) {
      const word = this.#words[at] ?? 0;
      // Most words that were changed are not in the text, which is quicker than aligning it.
      if (text.includes(words[word]?.word?.trim() ?? "")) unclear.add(word);
    }
    if (unclear.size === 0) return none;
    const found: UnclearWord[] = [];
    let offset = 0;
    for (const block of alignRun(this.base, from, to, text)) {
      const texts = block.kind === "unchanged" ? [block.text] : block.texts;
      if (block.kind === "unchanged" && unclear.has(block.word) && block.text.trim() !== "") {
        const lead = block.text.length - block.text.trimStart().length;
        const { confidence } = words[block.word] ?? {};
        found.push({
          from: offset + lead,
          to: offset + block.text.trimEnd().length,
          confidence: Number(confidence ?? 0),
        });
      }
      offset += texts.reduce((sum, { length }) => sum + length, 0);
    }
    return found;
  }
}

const none: readonly UnclearWord[] = [];
