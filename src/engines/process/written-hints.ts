import type { Hint, Hypothesis } from "../protocol/engine.ts";
import { foldedWords, hintWords } from "../protocol/hint-words.ts";

/** The words of a hint, as they are recognized and as they are written. */
interface WrittenPhrase {
  readonly folded: readonly string[];
  readonly written: readonly string[];
}

const shared = new WeakMap<readonly Hint[], WrittenHints>();

/** Returns the writer of these hints, which sessions with the same list share (shared-hints.ts). */
export function writtenHintsOf(hints: readonly Hint[]): WrittenHints {
  const writer = shared.get(hints) ?? new WrittenHints(hints);
  shared.set(hints, writer);
  return writer;
}

/** Writes the phrases of hints with the capitals that the hints have. */
export class WrittenHints {
  /** The phrases by their first word, longest first. */
  readonly #phrases: ReadonlyMap<string, readonly WrittenPhrase[]>;

  /** A phrase without capitals does not state how it is written. */
  constructor(hints: readonly Hint[]) {
    const phrases = hints.flatMap(({ phrase }): WrittenPhrase[] => {
      const written = hintWords(phrase);
      const folded = foldedWords(phrase);
      const hasCapitals = written.some((word, at) => word !== folded[at]);
      return hasCapitals && written.length === folded.length ? [{ folded, written }] : [];
    });
    const longest = phrases.toSorted((a, b) => b.folded.length - a.folded.length);
    this.#phrases = Map.groupBy(longest, ({ folded }) => folded[0] ?? "");
  }

  /** Returns the readings with every phrase as its hint writes it. Marks around words stay. */
  write(readings: readonly Hypothesis[]): readonly Hypothesis[] {
    if (this.#phrases.size === 0) return readings;
    const changed = readings.map((reading): Hypothesis => {
      const text = this.#writeTexts(reading.text.split(" ")).join(" ");
      if (text === reading.text) return reading;
      const texts = this.#writeTexts(reading.words.map((word) => word.text));
      const words = reading.words.map((word, at) => ({ ...word, text: texts[at] ?? word.text }));
      return { ...reading, text, words };
    });
    // Two readings may have differed only in their capitals.
    return changed.filter(
      ({ text }, at) => changed.findIndex((other) => other.text === text) === at,
    );
  }

  #writeTexts(texts: readonly string[]): readonly string[] {
    const folded = texts.map((text) => foldedWords(text).join(" "));
    const result = [...texts];
    for (let at = 0; at < texts.length; at++) {
      const phrase = this.#phrases
        .get(folded[at] ?? "")
        ?.find((each) => each.folded.every((word, next) => folded[at + next] === word));
      if (!phrase) continue;
      for (const [next, word] of phrase.written.entries()) {
        const place = at + next;
        const [own = ""] = hintWords(texts[place] ?? "");
        result[place] = (texts[place] ?? "").normalize("NFC").replace(own, () => word);
      }
      at += phrase.written.length - 1;
    }
    return result;
  }
}
