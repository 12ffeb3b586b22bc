import type { EngineWord, Hypothesis } from "../protocol/engine.ts";

/**
 * Punctuation around words, which is not spoken. Not matched: marks within words ("o'clock", "2.5",
 * "e-mail"), marks that are spoken (§ ‰ & % @ #) and a minus before a digit.
 */
const marksBefore = /^(?:(?!-\d)[\p{P}--[@#%\x26§‰]])+/v;
const marksAfter = /[\p{P}--[@#%\x26§‰]]+$/v;
/** Matches an ordinal in Icelandic and some other languages, as in "1. maí". */
const ordinal = /\d\.$/;
const beginsLower = /^\p{Ll}/u;

/**
 * Returns the readings without the punctuation that some models write. They are distinct and not
 * empty, and keep their casing.
 */
export function withoutPunctuation(readings: readonly Hypothesis[]): readonly Hypothesis[] {
  const plain = readings.map((reading): Hypothesis => ({
    ...reading,
    text: plainTexts(reading.text.split(/\s+/))
      .filter((text) => text !== "")
      .join(" "),
    words: plainWords(reading.words),
  }));
  return plain.filter(
    ({ text }, index) => text !== "" && plain.findIndex((other) => other.text === text) === index,
  );
}

function plainWords(words: readonly EngineWord[]): readonly EngineWord[] {
  const texts = plainTexts(words.map(({ text }) => text));
  return words.flatMap((word, index) => {
    const text = texts[index] ?? "";
    return text === "" ? [] : [{ ...word, text }];
  });
}

function plainTexts(texts: readonly string[]): readonly string[] {
  return texts.map((text, index) => {
    const begun = text.replace(marksBefore, "");
    const isOrdinal = ordinal.test(begun) && beginsLower.test(texts[index + 1] ?? "");
    return isOrdinal ? begun : begun.replace(marksAfter, "");
  });
}
