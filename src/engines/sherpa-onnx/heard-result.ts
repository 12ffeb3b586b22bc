/** What the library heard in an utterance. The lists have an entry for each token, or none. */
export interface HeardResult {
  readonly text: string;
  /** As the model writes them; one that begins with a space or with U+2581 begins a word. */
  readonly tokens: readonly string[];
  readonly startSeconds: readonly number[];
  /** Only models that tell how long a token lasts. */
  readonly durationSeconds: readonly number[];
  /** Only transducers. */
  readonly logProbabilities: readonly number[];
}

// oxlint-disable-next-line no-control-regex -- those are what is looked for
const controlCharacters = /[\u0000-\u001f]/g;

/**
 * Reads the JSON of the library, which leaves control characters of a token as they are, and writes
 * what is no number as it is. Throws an Error where it is none: without a word of it, as errors are
 * logged and it is what was said.
 */
export function readHeardResult(json: string): HeardResult {
  const value = parsed(json.replace(controlCharacters, " "));
  const fields: Readonly<Record<string, unknown>> =
    typeof value === "object" && value !== null ? { ...value } : {};
  const { text, tokens, timestamps, durations, ys_probs, ys_log_probs } = fields;
  const texts = listOf(tokens, (each) => typeof each === "string");
  const perToken = (list: unknown) => {
    const numbers = listOf(list, (each) => typeof each === "number");
    return numbers.length === texts.length ? numbers : [];
  };
  return {
    text: typeof text === "string" ? text : "",
    tokens: texts,
    startSeconds: perToken(timestamps),
    durationSeconds: perToken(durations),
    // The streaming one's name is wrong: its values are logarithms too.
    logProbabilities: perToken(ys_log_probs ?? ys_probs),
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error(`sherpa-onnx told a result of ${json.length} characters that is no JSON`);
  }
}

function listOf<T>(value: unknown, isOne: (each: unknown) => each is T): readonly T[] {
  return Array.isArray(value) ? value.filter((each) => isOne(each)) : [];
}
