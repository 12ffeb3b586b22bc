import { STATUS_CODES } from "node:http";
import { request, type Dispatcher } from "undici";
import { openGuardedAgent, type Resolve } from "../media/media-hop.ts";
import { checkMediaUrl, type MediaAllowList } from "../media/media-url.ts";
import { explainSending } from "./explain-sending.ts";

/** A request to a receiver. */
export interface Message {
  readonly url: string;
  readonly body: string;
  /** The headers, including the signature. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SendOptions {
  readonly allow: MediaAllowList;
  readonly resolve: Resolve;
  /** The time limit for the whole attempt: name resolution, connection, request and response. */
  readonly timeoutMs: number;
  /** Ends the attempt immediately; sendDelivery() then throws the reason of the signal. */
  readonly signal: AbortSignal;
}

/** A failed attempt. */
export interface Refusal {
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /**
   * A description for the owner of the webhook, which is the same for every address that may not be
   * reached.
   */
  readonly problem: string;
  /** The delay that the receiver requested, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
}

/** The outcome of an attempt. */
export type Attempt =
  | { readonly isTaken: true; readonly status: number }
  | ({ readonly isTaken: false } & Refusal);

/**
 * The number of bytes of the response that are read and discarded, so that the receiver's
 * connection is not cut off.
 */
const answerBytesMax = 16_384;

/**
 * Sends a message to a URL that a user has set, by the rules for fetched media: the connection uses
 * only an address that was checked. Redirects are not followed, and only the status of the response
 * counts.
 */
export async function sendDelivery(message: Message, options: SendOptions): Promise<Attempt> {
  const { allow, resolve, timeoutMs, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, timeout]);
  try {
    const violation = checkMediaUrl(message.url, allow);
    if (violation !== undefined) return refused(`the URL cannot be reached: ${violation}`);
    const url = new URL(message.url);
    const guard = { allow, resolve, signal: either, limits: { connectMs: timeoutMs } };
    const agent = await openGuardedAgent(url, guard);
    try {
      return await post(url, message, { dispatcher: agent, signal: either });
    } finally {
      await agent.destroy();
    }
  } catch (error) {
    signal.throwIfAborted();
    const seconds = timeoutMs / 1000;
    if (timeout.aborted) return refused(`the receiver did not answer within ${seconds} s`);
    return refused(explainSending(error));
  }
}

async function post(
  url: URL,
  { body, headers }: Message,
  options: { readonly dispatcher: Dispatcher; readonly signal: AbortSignal },
): Promise<Attempt> {
  const answer = await request(url, {
    ...options,
    method: "POST",
    headers: { ...headers, "content-type": "application/json", "user-agent": "hlust" },
    body,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // The status has arrived, so the receiver has responded, whatever happens to the body.
  await answer.body.dump({ limit: answerBytesMax, signal: options.signal }).catch(() => {});
  const { statusCode: status } = answer;
  if (status >= 200 && status < 300) return { isTaken: true, status };
  return { isTaken: false, status, problem: problemOf(status), retryAfterMs: retryAfterOf(answer) };
}

function refused(problem: string): Attempt {
  return { isTaken: false, status: undefined, problem, retryAfterMs: undefined };
}

function problemOf(status: number): string {
  const name = STATUS_CODES[status];
  const answered = `the receiver answered ${status}${name === undefined ? "" : ` ${name}`}`;
  return status >= 300 && status < 400 ? `${answered}: redirects are not followed` : answered;
}

/** The value is a number of seconds or a date (RFC 9110, 10.2.3). */
function retryAfterOf({ headers }: Dispatcher.ResponseData): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
