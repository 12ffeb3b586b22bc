import { jsonField, jsonText } from "./json-field.ts";

/** The parts of a server message that the load tool uses (§4.9). */
export interface StreamAnswer {
  readonly results: readonly StreamResult[];
  readonly error: { readonly code: number; readonly message: string } | undefined;
}

export interface StreamResult {
  readonly isFinal: boolean;
  readonly transcript: string;
  /**
   * The time in the stream at which the last word ends; undefined without word times, and if they
   * are estimated.
   */
  readonly endMs: number | undefined;
}

/** Parses a message. Returns undefined if the message does not conform to the specification. */
export function readStreamAnswer(text: string): StreamAnswer | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const error = jsonField(json, "error");
  if (error !== undefined) {
    const code = Number(jsonField(error, "code") ?? 2);
    return { results: [], error: { code, message: jsonText(error, "message") } };
  }
  const result = jsonField(json, "result");
  if (result === undefined) return undefined;
  return { results: list(jsonField(result, "results")).map(readResult), error: undefined };
}

function readResult(result: unknown): StreamResult {
  const [best] = list(jsonField(result, "alternatives"));
  const last = list(jsonField(best, "words")).at(-1);
  const end = jsonField(last, "estimatedTimes") === true ? undefined : jsonField(last, "endTime");
  return {
    isFinal: jsonField(result, "isFinal") === true,
    transcript: jsonText(best, "transcript"),
    endMs: typeof end === "string" ? millisecondsOf(end) : undefined,
  };
}

/** Returns the milliseconds of a duration such as `1.25s`. */
function millisecondsOf(duration: string): number | undefined {
  const seconds = Number(duration.slice(0, -1));
  return duration.endsWith("s") && Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
