/**
 * How a server failed. unreachable: no answer, or that of a proxy without its server. busy: no room
 * now. denied: the key or the model, so that every call fails until the operator acts. error: the
 * server answers with an error of its own. broken: the answer is not what the protocol allows.
 * refused: the server refuses this audio, or answers it with more than an utterance can have;
 * another attempt would end in the same way.
 */
export type FailureKind = "unreachable" | "busy" | "denied" | "error" | "broken" | "refused";

/** The maximum number of characters of a server's own words in a message. */
const wordsMax = 200;

/** The failure of a call to the server of a hosted model, in words for the operator. */
export class ServerFailure extends Error {
  override readonly name = "ServerFailure";
  readonly kind: FailureKind;
  /** When the server wants to be called again; undefined if it does not say. */
  readonly retryAfterMs: number | undefined;
  /** The status in the server's protocol, for callers too; undefined if it gave none. */
  readonly status: string | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    options: {
      readonly retryAfterMs?: number | undefined;
      readonly status?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}

/** Returns a server's own words for a message: in one line, short, and without the key. */
export function serverWords(text: string, key: string | undefined): string {
  const hidden = key === undefined ? text : text.replaceAll(key, "***");
  const line = hidden.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > wordsMax ? `${line.slice(0, wordsMax)}...` : line;
}

/** Returns how a server failed that answered with this status of HTTP. */
export function failureOfStatus(status: number): FailureKind {
  if (status === 401 || status === 403 || status === 404 || status === 405) return "denied";
  if (status === 429) return "busy";
  if (status === 500) return "error";
  if (status === 408 || status > 500) return "unreachable";
  // A redirect is not followed, since the key must not go anywhere else.
  return status >= 300 && status < 400 ? "denied" : "refused";
}
