import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";

export interface RetryOptions {
  /** How often a call is repeated after its first attempt failed; 0 turns retries off. */
  readonly maxRetries: number;
  /** Returns true if the method changes nothing, so that it can be repeated in any case. */
  readonly isRead: (method: DescMethod) => boolean;
  /**
   * Returns true if the service answers a second call with the same Idempotency-Key as it answered
   * the first. Such a call gets a key unless it has one.
   */
  readonly isKeyed: (method: DescMethod) => boolean;
}

const keyHeader = "idempotency-key";

/** The longest pause before the first repetition, which doubles with each one, and the maximum. */
const [firstPauseMs, pauseMsMax] = [500, 8_000];
/** A service that asks for a longer pause than this is not called again: the call fails. */
const askedMsMax = 60_000;

/**
 * Repeats unary calls that failed because the service was unreachable, restarting or busy. A call
 * that changes something is repeated only if it has an Idempotency-Key, or if it was refused before
 * it began: its error then has a time to wait. The pause is the time that the service asks
 * for, or random and longer with each repetition. A call's signal and timeoutMs include the
 * repetitions. Streams are not repeated.
 */
export function retryCalls({ maxRetries, isRead, isKeyed }: RetryOptions): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return await next(request);
    if (maxRetries > 0 && isKeyed(request.method) && !request.header.has(keyHeader)) {
      request.header.set(keyHeader, newKey());
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request);
      } catch (error) {
        const pauseMs = pauseAfter(ConnectError.from(error), attempt, {
          canRepeat: isRead(request.method) || request.header.has(keyHeader),
        });
        if (pauseMs === undefined || attempt >= maxRetries) throw error;
        await pause(pauseMs, request.signal);
      }
    }
  };
}

/** Returns the pause before the call is repeated, or undefined if repeating it is of no use. */
function pauseAfter(
  error: ConnectError,
  attempt: number,
  { canRepeat }: { readonly canRepeat: boolean },
): number | undefined {
  const askedMs = askedPauseMs(error);
  if (error.code !== Code.Unavailable && error.code !== Code.ResourceExhausted) return undefined;
  if (askedMs !== undefined) return askedMs <= askedMsMax ? askedMs : undefined;
  if (error.code !== Code.Unavailable || !canRepeat) return undefined;
  return Math.random() * Math.min(pauseMsMax, firstPauseMs * 2 ** attempt);
}

/** Returns the time after which the service wants to be called again, in milliseconds. */
function askedPauseMs(error: ConnectError): number | undefined {
  const [info] = error.findDetails(RetryInfoSchema);
  if (info?.retryDelay) {
    return Number(info.retryDelay.seconds) * 1_000 + info.retryDelay.nanos / 1e6;
  }
  const seconds = error.metadata.get("retry-after");
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}

/** Returns 16 random bytes in hexadecimal. crypto.randomUUID() needs https: in browsers. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Waits, and rejects with the reason of the signal if it aborts first. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = (): void => reject(signal.reason);
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
