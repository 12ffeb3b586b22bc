import type { WrittenHypothesis } from "../../speech/result-writer.ts";
import type { VoskConfig } from "./read-config.ts";

/** The alternatives of an utterance, best first. */
export type VoskFinal = readonly WrittenHypothesis[];

/** Returns a partial result. Vosk writes spaces around colons, on which some clients rely. */
export function partialText(text: string): string {
  return `{"partial" : ${JSON.stringify(text.toLowerCase())}}`;
}

/**
 * Returns final results as one: their texts joined, and their words in one list. Several results
 * have one alternative, since each could be combined with each.
 */
export function finalText(
  finals: readonly VoskFinal[],
  { withWords, alternativesMax }: Pick<VoskConfig, "withWords" | "alternativesMax">,
): string {
  const [only] = finals;
  const readings = finals.length === 1 && only ? only : [joined(finals)];
  if (alternativesMax === 0) return readingText(readings[0] ?? joined([]), withWords);
  const alternatives = readings.slice(0, alternativesMax).map((reading) => {
    const { confidence = 1 } = reading;
    const words = withWords ? wordsOf(reading, false) : "";
    return `{"confidence" : ${confidence}, ${words}"text" : ${JSON.stringify(textOf(reading))}}`;
  });
  return `{"alternatives" : [${alternatives.join(", ")}]}`;
}

function readingText(reading: WrittenHypothesis, withWords: boolean): string {
  const words = withWords ? wordsOf(reading, true) : "";
  return `{${words}"text" : ${JSON.stringify(textOf(reading))}}`;
}

/** Returns the member `result`; "" without words. */
function wordsOf({ words }: WrittenHypothesis, withConfidence: boolean): string {
  if (words.length === 0) return "";
  const list = words.map(({ text, startMs, endMs, confidence = 1 }) => {
    const own = withConfidence ? `"conf" : ${confidence}, ` : "";
    const times = `"end" : ${endMs / 1000}, "start" : ${startMs / 1000}`;
    return `{${own}${times}, "word" : ${JSON.stringify(text.toLowerCase())}}`;
  });
  return `"result" : [${list.join(", ")}], `;
}

function joined(finals: readonly VoskFinal[]): WrittenHypothesis {
  const bests = finals.flatMap(([best]) => best ?? []);
  return {
    text: bests.map(({ text }) => text).join(" "),
    words: bests.flatMap(({ words }) => words),
  };
}

function textOf({ text }: WrittenHypothesis): string {
  return text.toLowerCase();
}
