import type { Node } from "prosemirror-model";
import { type SpokenText, wordAt } from "../../spoken-text.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import { type Retimings, startOfWord } from "../model/retimings.ts";
import { timesOf, type TimedWord, wordAtOffset, wordAtTime } from "../model/times.ts";
import { type Caret, paragraphAt, paragraphOfWord, type ParagraphPlace, runOf } from "./places.ts";
import { paragraphOf, retimingsOf } from "./schema.ts";

/** A word of the edited text that is said at some time. */
export interface SpokenPlace {
  readonly paragraph: ParagraphPlace;
  readonly word: TimedWord;
}

interface KnownWords {
  readonly retimings: Retimings;
  readonly words: readonly TimedWord[];
}

/** The tolerance for players that report a time slightly before the requested one. */
const clockSlackSeconds = 0.002;

/**
 * Finds the places of the edited text by time, and the times of places. The words of a paragraph
 * are only computed when it is needed, and once until it changes.
 */
export class SpokenPlaces {
  #base: Base;
  #text: SpokenText;
  #known = new WeakMap<EditedParagraph, KnownWords>();

  /** `text` is the text of the base as it is read. */
  constructor(base: Base, text: SpokenText) {
    this.#base = base;
    this.#text = text;
  }

  /** Replaces the base by another version. */
  rebase(base: Base, text: SpokenText): void {
    this.#base = base;
    this.#text = text;
    this.#known = new WeakMap();
  }

  /** Returns the words of a paragraph of a document. */
  wordsOf(doc: Node, paragraph: EditedParagraph): readonly TimedWord[] {
    const retimings = retimingsOf(doc);
    const known = this.#known.get(paragraph);
    if (known?.retimings === retimings) return known.words;
    const words = timesOf(this.#base, paragraph, retimings);
    this.#known.set(paragraph, { retimings, words });
    return words;
  }

  /**
   * Returns the word that is played at a time, or the last one before; undefined before the first
   * word, and where all words were deleted.
   */
  at(doc: Node, seconds: number): SpokenPlace | undefined {
    const paragraph = this.#paragraphAt(doc, seconds);
    if (!paragraph) return undefined;
    const words = this.wordsOf(doc, paragraphOf(paragraph.node));
    const word = words[Math.max(0, wordAtTime(words, seconds + clockSlackSeconds))];
    return word && { paragraph, word };
  }

  /** Returns the caret before the word that is played at a time. */
  caretAt(doc: Node, seconds: number): Caret {
    const place = this.at(doc, seconds);
    return { paragraph: place?.paragraph.index ?? 0, offset: place?.word.offset ?? 0 };
  }

  /** Returns the start of the word at a caret, in seconds. */
  timeAt(doc: Node, { paragraph, offset }: Caret): number {
    const place = paragraphAt(doc, paragraph);
    if (!place) return 0;
    const words = this.wordsOf(doc, paragraphOf(place.node));
    const word = words[Math.max(0, wordAtOffset(words, offset))];
    return word?.start ?? this.#base.starts[runOf(place.node).from] ?? 0;
  }

  /** Returns the paragraph that is played at a time. */
  #paragraphAt(doc: Node, seconds: number): ParagraphPlace | undefined {
    const retimings = retimingsOf(doc);
    let word = wordAt(this.#text, seconds);
    const startOf = (at: number): number => startOfWord(this.#base, retimings, at).seconds;
    const isBegun = (at: number): boolean => startOf(at) <= seconds + clockSlackSeconds;
    // The start of a word may have been set to a time before or after its own.
    while (retimings.has(word + 1) && isBegun(word + 1) && startOf(word + 1) >= startOf(word)) {
      word += 1;
    }
    while (retimings.has(word) && !isBegun(word)) word -= 1;
    return word < 0 ? undefined : paragraphOfWord(doc, word);
  }
}
