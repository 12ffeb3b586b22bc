import {
  leavesOpen,
  pausesOf,
  writeWords,
  type SpokenWord,
  type WritingOptions,
  type WrittenWord,
} from "./write-words.ts";

/**
 * Writes the results of a stream. What an interim result has formatted stays in the next one while
 * its words are the same; a final result is what writeWords() makes of its words.
 */
export class LiveWriter {
  readonly #options: WritingOptions;
  #continues = false;
  #previous: readonly WrittenWord[] = [];
  /** The words of the previous interim result, and whether speech pauses after each. */
  #words: readonly SpokenWord[] = [];
  #pauses: readonly boolean[] = [];

  constructor(options: WritingOptions) {
    this.#options = options;
  }

  /** Writes an interim result, whose last sentence is open. */
  interim(words: readonly SpokenWord[]): WrittenWord[] {
    const pauses = this.#settledPauses(words);
    const context = { continues: this.#continues, isOpen: true, pauses };
    const written = keeping(this.#previous, writeWords(words, this.#options, context));
    this.#previous = written;
    this.#words = words;
    this.#pauses = pauses;
    return written;
  }

  /** Writes another reading of the utterance whose final result comes next. */
  alternative(words: readonly SpokenWord[]): WrittenWord[] {
    return writeWords(words, this.#options, { continues: this.#continues });
  }

  /** Writes a final result; the next words are of another utterance. */
  final(words: readonly SpokenWord[]): WrittenWord[] {
    const written = writeWords(words, this.#options, { continues: this.#continues });
    if (words.length > 0) this.#continues = leavesOpen(words, this.#options.languageCode);
    this.#previous = [];
    this.#words = [];
    this.#pauses = [];
    return written;
  }

  /** Times of interim results move; a pause is decided once for each two words. */
  #settledPauses(words: readonly SpokenWord[]): boolean[] {
    const pauses = pausesOf(words);
    for (let at = 0; at + 1 < words.length; at += 1) {
      if (this.#words[at + 1]?.text !== words[at + 1]?.text) break;
      if (this.#words[at]?.text !== words[at]?.text) break;
      pauses[at] = this.#pauses[at] ?? false;
    }
    return pauses;
  }
}

/**
 * Returns the new texts, with the previous ones where these are of the same words, a rule wrote
 * them, and no new text joins them with others.
 */
function keeping(previous: readonly WrittenWord[], next: readonly WrittenWord[]): WrittenWord[] {
  const starts = new Map<number, WrittenWord>();
  let at = 0;
  for (const word of previous) {
    starts.set(at, word);
    at += word.spoken.length;
  }
  const kept: WrittenWord[] = [];
  at = 0;
  for (let index = 0; index < next.length;) {
    const word = next[index];
    if (!word) break;
    const former = starts.get(at);
    const count = former ? tokensOf(former, next, index) : 0;
    if (former && count > 1) {
      const spoken = next.slice(index, index + count).flatMap((each) => each.spoken);
      const endMs = spoken.at(-1)?.endMs ?? former.endMs;
      kept.push({ ...former, startMs: word.startMs, endMs, spoken });
      index += count;
      at += spoken.length;
    } else {
      kept.push(former && count === 1 && former.spokenForm ? withText(word, former.text) : word);
      index += 1;
      at += word.spoken.length;
    }
  }
  return kept;
}

/** The marks that end a sentence or follow a word. */
const marks = /[.,?]+$/;

/** Returns a text with what it was before, unless only the mark after it is new. */
function withText(word: WrittenWord, former: string): WrittenWord {
  if (word.text.replace(marks, "") === former.replace(marks, "")) return word;
  const [mark = ""] = marks.exec(word.text) ?? [];
  return { ...word, text: marks.test(former) ? former : former + mark };
}

/** Returns how many new texts are made of exactly the words of a former one; 0 if none are. */
function tokensOf(former: WrittenWord, next: readonly WrittenWord[], index: number): number {
  let matched = 0;
  for (let end = index; matched < former.spoken.length; end += 1) {
    for (const { text } of next[end]?.spoken ?? [{ text: undefined }]) {
      if (former.spoken[matched]?.text !== text) return 0;
      matched += 1;
    }
    if (matched === former.spoken.length) return end + 1 - index;
  }
  return 0;
}
