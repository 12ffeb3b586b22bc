import { HeldBytes, type HeldShare } from "../std/held-bytes.ts";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * Answers that are no longer than this are not counted: the tables of docs/memory.md have them with
 * their calls.
 */
export const uncountedBytesMax = 64 << 10;

/** Of a server that is told nothing else. */
export function defaultAnswers(): HeldBytes {
  return new HeldBytes({
    nodeBytesMax: 256 << 20,
    accountBytesMax: 64 << 20,
    reason: "ANSWERS_FULL",
    what: "answers",
  });
}

/**
 * Counts what an answer holds in memory until its response is closed: sent, or given up. Throws
 * resource_exhausted, ANSWERS_FULL, where the account or the node holds too much.
 */
export function holdAnswer(
  answers: HeldBytes,
  accountId: string,
  response: HttpResponse,
  bytes: number,
): HeldShare | undefined {
  if (bytes <= uncountedBytesMax) return undefined;
  const share = answers.hold(accountId, bytes);
  const release = (): void => share[Symbol.dispose]();
  if (isClosed(response)) release();
  else response.once("close", release);
  return share;
}
