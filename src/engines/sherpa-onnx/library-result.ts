import { joinDividedLetters } from "./divided-letters.ts";

/** The library's result for an utterance. Each list has an entry for every token, or is empty. */
export interface LibraryResult {
  readonly text: string;
  /**
   * The tokens as the model outputs them. A token with a leading space or U+2581 begins a word.
   */
  readonly tokens: readonly string[];
  readonly startSeconds: readonly number[];
  /** Available only from models that output the duration of a token. */
  readonly durationSeconds: readonly number[];
  /** Available only from transducers. */
  readonly logProbabilities: readonly number[];
}

// oxlint-disable-next-line no-control-regex -- the expression looks for them
const controlCharacters = /[\u0000-\u001f]/g;

/**
 * Reads the JSON of the library, which may contain raw control characters and NaN. Throws an Error
 * if the text is not JSON. The error does not contain the text, since errors are logged and the
 * text is a transcript.
 */
export function readLibraryResult(json: string): LibraryResult {
  const value = parsed(json.replace(controlCharacters, " "));
  const fields: Readonly<Record<string, unknown>> =
    typeof value === "object" && value !== null ? { ...value } : {};
  const { text, tokens, timestamps, durations, ys_probs, ys_log_probs } = fields;
  const texts = listOf(tokens, (each) => typeof each === "string");
  const perToken = (list: unknown) => {
    const numbers = listOf(list, (each) => typeof each === "number");
    return numbers.length === texts.length ? numbers : [];
  };
  const [whole = ""] = joinDividedLetters([typeof text === "string" ? text : ""]);
  return {
    text: whole,
    tokens: joinDividedLetters(texts),
    startSeconds: perToken(timestamps),
    durationSeconds: perToken(durations),
    // The name ys_probs of streaming models is misleading: the values are also logarithms.
    logProbabilities: perToken(ys_log_probs ?? ys_probs),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`sherpa-onnx returned ${json.length} characters that are not JSON`);
  }
}

function listOf<T>(value: unknown, isOne: (each: unknown) => each is T): readonly T[] {
  return Array.isArray(value) ? value.filter((each) => isOne(each)) : [];
}
