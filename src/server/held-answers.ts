import { HeldBytes, type HeldShare } from "../std/held-bytes.ts";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * The size below which responses are not counted. The tables in docs/memory.md include such
 * responses in the memory of a call.
 */
const uncountedBytesMax = 64 << 10;

/** Returns the default limits of a server. */
export function defaultAnswers(): HeldBytes {
  return new HeldBytes({
    nodeBytesMax: 256 << 20,
    accountBytesMax: 64 << 20,
    reason: "ANSWERS_FULL",
    what: "answers",
  });
}

/**
 * Counts the memory of a response until the response is closed: sent or aborted. Throws
 * resource_exhausted (ANSWERS_FULL) if the responses of the account or the node take too much
 * memory.
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
