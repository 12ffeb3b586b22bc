import type { ServerWord } from "./hosted-server.ts";
import { jsonMember as member } from "./json-member.ts";

/**
 * Reads a word of an answer: {"word", "start", "end"}, with times in seconds, and its confidence in
 * the member of this name. A time that the server does not give is NaN; the times of the utterance
 * are not used then.
 */
export function readJsonWord(value: unknown, confidenceName: string): ServerWord {
  const [text, start, end, confidence] = ["word", "start", "end", confidenceName].map((name) =>
    member(value, name),
  );
  const ms = (seconds: unknown) => (typeof seconds === "number" ? 1000 * seconds : NaN);
  return {
    text: typeof text === "string" ? text : "",
    startMs: ms(start),
    endMs: ms(end),
    confidence: typeof confidence === "number" ? confidence : undefined,
  };
}
