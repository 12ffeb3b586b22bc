import { createHash, type Hash } from "node:crypto";
import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../std/service-error.ts";
import {
  openHop,
  redirectTarget,
  type Hop,
  type HopLimits,
  type HopOptions,
  type Resolve,
} from "./media-hop.ts";
import type { DeclaredDigest } from "./declared-digest.ts";
import { isSameMedia, StatusError } from "./media-answer.ts";
import type { MediaStore, StoredMedia } from "./media-store.ts";
import { checkMediaUrl, notPublic, type MediaAllowList } from "./media-url.ts";
import { explainTransfer, isPassing } from "./transfer-failure.ts";

/** The limits of a fetch. */
export interface FetchLimits extends HopLimits {
  readonly totalMs: number;
  readonly redirectsMax: number;
  /** The maximum number of attempts in a row that make less than progressBytesMin of progress. */
  readonly attemptsMax: number;
  readonly progressBytesMin: number;
  /**
   * The delay before the second attempt. Each later delay is four times as long as the previous
   * one.
   */
  readonly backoffMs: number;
  /**
   * The longest delay that a server may request (Retry-After). If the server requests a longer
   * delay, there are no further attempts.
   */
  readonly retryAfterMsMax: number;
}

const fetchLimits: FetchLimits = {
  connectMs: 10_000,
  headersMs: 30_000,
  stallMs: 60_000,
  stallBytesMin: 60_000,
  totalMs: 2 * 3_600_000,
  redirectsMax: 5,
  attemptsMax: 4,
  progressBytesMin: 1 << 20,
  backoffMs: 500,
  retryAfterMsMax: 60_000,
};

export interface FetchMediaOptions {
  readonly url: string;
  /** The id of the new media. */
  readonly id: string;
  readonly store: Pick<MediaStore, "put">;
  readonly allow: MediaAllowList;
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /** Default: resolveHost. */
  readonly resolve?: Resolve;
  readonly limits?: Partial<FetchLimits>;
}

/** The system resolver. */
export const resolveHost: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Downloads media from a caller's URL into the store. The URL of each hop, its resolved addresses
 * and the connected address are checked. Nothing is decompressed. A broken transfer resumes if the
 * server can confirm that the media is unchanged, and a checksum that the server declares is
 * verified. Throws ServiceError with a message for the caller, which is the same for every address
 * that is not public.
 */
export async function fetchMedia(options: FetchMediaOptions): Promise<StoredMedia> {
  const limits = { ...fetchLimits, ...options.limits };
  const total = AbortSignal.timeout(limits.totalMs);
  const signal = options.signal ? AbortSignal.any([options.signal, total]) : total;
  const violation = checkMediaUrl(options.url, options.allow);
  if (violation !== undefined) throw urlRefused(violation);
  const transfer = new Transfer(options, limits, signal);
  for (;;) {
    try {
      return await options.store.put(options.id, transfer.bytes(), {
        bytesMax: options.bytesMax,
        signal,
      });
    } catch (error) {
      if (transfer.startsAgain && !signal.aborted) continue;
      if (options.signal?.aborted) throw options.signal.reason;
      if (total.aborted) {
        const hours = limits.totalMs / 3_600_000;
        throw new ServiceError(
          "deadline_exceeded",
          `the media could not be downloaded within ${hours} h`,
          {
            reason: "MEDIA_TOO_SLOW",
          },
        );
      }
      throw error;
    }
  }
}

/** The download of one URL, over as many connections as it needs. */
class Transfer {
  readonly #options: FetchMediaOptions;
  readonly #limits: FetchLimits;
  readonly #signal: AbortSignal;
  #received = 0;
  /** The furthest byte position that any attempt reached, used to detect progress. */
  #furthest = 0;
  #failedAttempts = 0;
  /**
   * The validator of the media (If-Range), with which the rest can be requested. undefined if the
   * rest cannot be requested.
   */
  #validator: string | undefined;
  /** The size of the media, if the server declares it. */
  #size: number | undefined;
  /** The declared checksum and the hash of the received bytes. */
  #digest: (DeclaredDigest & { readonly hash: Hash }) | undefined;
  #mismatches = 0;
  #startsAgain = false;

  constructor(options: FetchMediaOptions, limits: FetchLimits, signal: AbortSignal) {
    this.#options = options;
    this.#limits = limits;
    this.#signal = signal;
  }

  /**
   * Whether, after bytes() threw, the stored bytes are invalid and bytes() must be read again from
   * the start.
   */
  get startsAgain(): boolean {
    return this.#startsAgain;
  }

  async *bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    this.#startsAgain = false;
    this.#received = 0;
    for (;;) {
      try {
        yield* this.#connection();
        return;
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  /** Yields the bytes of one connection; returns when the media is complete. */
  async *#connection(): AsyncGenerator<Uint8Array, void, undefined> {
    await using hop = await this.#open();
    this.#accept(hop);
    for await (const chunk of hop.body()) {
      this.#received += chunk.length;
      this.#digest?.hash.update(chunk);
      if (this.#received > this.#options.bytesMax) throw tooLarge(this.#options.bytesMax);
      yield chunk;
    }
    if (this.#size !== undefined && this.#received !== this.#size) {
      throw broken();
    }
    if (this.#received === 0) {
      throw new ServiceError("invalid_argument", "the media is empty: the URL returned 0 bytes", {
        reason: "MEDIA_EMPTY",
      });
    }
    this.#checkDigest();
  }

  /**
   * Throws if the bytes do not match the server's checksum. A single mismatch may be accidental, so
   * the download is retried once.
   */
  #checkDigest(): void {
    if (!this.#digest || this.#digest.hash.digest("base64") === this.#digest.base64) return;
    this.#mismatches++;
    this.#validator = undefined;
    const { field } = this.#digest;
    throw this.#mismatches === 1
      ? broken()
      : new ServiceError(
          "data_loss",
          `the media was damaged in ${this.#mismatches} downloads: it does not match the checksum of its server (${field})`,
          { reason: "MEDIA_CORRUPT" },
        );
  }

  /** Follows redirects, and checks each one like the first URL. */
  async #open(): Promise<Hop> {
    const { allow, resolve = resolveHost } = this.#options;
    const options: HopOptions = {
      allow,
      resolve,
      signal: this.#signal,
      limits: this.#limits,
      rest:
        this.#received > 0 && this.#validator !== undefined
          ? { from: this.#received, validator: this.#validator }
          : undefined,
    };
    let url = new URL(this.#options.url);
    for (let redirects = 0; ; redirects++) {
      const hop = await openHop(url, options);
      if (hop.location === undefined) return hop;
      await hop[Symbol.asyncDispose]();
      if (redirects === this.#limits.redirectsMax) {
        throw new ServiceError(
          "failed_precondition",
          `the URL redirects more than ${this.#limits.redirectsMax} times`,
          { reason: "MEDIA_REDIRECTS" },
        );
      }
      url = redirectTarget(url, hop.location, allow);
    }
  }

  /** Checks the headers of a response that contains the whole media or the rest of it. */
  #accept(hop: Hop): void {
    if (this.#received > 0) {
      const isTheRest =
        hop.rangeFrom === this.#received &&
        (this.#size === undefined || hop.bytes === this.#size) &&
        isSameMedia(this.#validator, hop);
      if (!isTheRest) this.#startAgain();
    } else {
      this.#validator = hop.validator;
      this.#digest = hop.digest && { ...hop.digest, hash: createHash(hop.digest.algorithm) };
    }
    this.#size = hop.bytes;
    if (hop.bytes !== undefined && hop.bytes > this.#options.bytesMax) {
      throw tooLarge(this.#options.bytesMax);
    }
  }

  #startAgain(): never {
    this.#startsAgain = true;
    throw new Error("the transfer starts again");
  }

  /**
   * Waits and returns if another attempt is possible. Otherwise throws an error with a message for
   * the caller.
   */
  async #recover(error: unknown): Promise<void> {
    if (this.#startsAgain || this.#signal.aborted) throw error;
    if (this.#received - this.#furthest >= this.#limits.progressBytesMin) this.#failedAttempts = 0;
    this.#furthest = Math.max(this.#furthest, this.#received);
    this.#failedAttempts++;
    const waitMs = this.#waitMs(error);
    if (waitMs === undefined) {
      throw explainTransfer(error, { received: this.#received, size: this.#size });
    }
    await sleep(waitMs, undefined, { signal: this.#signal });
    if (this.#received > 0 && this.#validator === undefined) this.#startAgain();
  }

  /** Returns the delay before the next attempt, or undefined if there is no further attempt. */
  #waitMs(error: unknown): number | undefined {
    const { attemptsMax, backoffMs, retryAfterMsMax } = this.#limits;
    const isRestRefused =
      this.#received > 0 && error instanceof StatusError && [412, 416].includes(error.status);
    if (isRestRefused) this.#validator = undefined;
    if ((!isRestRefused && !isPassing(error)) || this.#failedAttempts >= attemptsMax)
      return undefined;
    const askedMs = (error instanceof StatusError && error.retryAfterMs) || 0;
    if (askedMs > retryAfterMsMax) return undefined;
    return Math.max(askedMs, backoffMs * 4 ** (this.#failedAttempts - 1));
  }
}

function broken(): ServiceError {
  return new ServiceError("unavailable", "the connection broke", { reason: "MEDIA_BROKEN" });
}

function urlRefused(violation: string): ServiceError {
  const message = violation === notPublic ? notPublic : `the URL of the media ${violation}`;
  return new ServiceError("invalid_argument", message, { reason: "MEDIA_URL_REFUSED" });
}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError(
    "out_of_range",
    `the media is larger than ${bytesMax} bytes, the maximum`,
    { reason: "MEDIA_TOO_LARGE" },
  );
}
