import { isIP, type Socket } from "node:net";
import { Agent, request } from "undici";
import { ServiceError } from "../std/service-error.ts";
import { readAnswer, type MediaAnswer } from "./media-answer.ts";
import {
  addressRefused,
  checkMediaUrl,
  isAddressAllowed,
  isPortAllowedAt,
  notPublic,
  portRefusal,
  targetOf,
  type MediaAllowList,
} from "./media-url.ts";
import { pinnedConnector } from "./pinned-connector.ts";
import { plainAddress } from "./public-address.ts";
import { unstalled, type StallLimits } from "./unstalled.ts";

/** Resolves a host name to addresses; rejects like dns.lookup. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface HopLimits extends StallLimits {
  readonly connectMs: number;
  /**
   * The maximum time from the connection to the end of the response headers, including 1xx
   * responses.
   */
  readonly headersMs: number;
}

export interface HopOptions {
  readonly allow: MediaAllowList;
  readonly resolve: Resolve;
  readonly limits: HopLimits;
  readonly signal: AbortSignal;
  /** Requests the bytes from this position, if the media still matches `validator`. */
  readonly rest?: { readonly from: number; readonly validator: string } | undefined;
}

/** The response to one request: a redirect, or bytes. Disposing of it closes the connection. */
export interface Hop extends MediaAnswer, AsyncDisposable {
  /** Yields the bytes. Throws if they arrive too slowly. */
  body(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** The maximum number of addresses to try for one host. */
const addressesMax = 8;
/** The maximum total size of all headers. */
const headerBytesMax = 16_384;

/** Sends one request to an address that is checked before and after connecting. */
export async function openHop(url: URL, options: HopOptions): Promise<Hop> {
  const { limits, rest } = options;
  const head = new HeadDeadline(limits.headersMs);
  const broken: { by?: Error } = {};
  const agent = await openGuardedAgent(url, options, (socket) => {
    head.begin();
    socket.on("error", (error) => {
      if ("syscall" in error) broken.by = error;
    });
  });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: "GET",
      headers: {
        accept: "audio/*, video/*, */*;q=0.5",
        "accept-encoding": "identity",
        "user-agent": "hlust",
        ...(rest && { range: `bytes=${rest.from}-`, "if-range": rest.validator }),
      },
      headersTimeout: 0,
      bodyTimeout: 0,
      signal: AbortSignal.any([options.signal, head.signal]),
    });
    answer.body.on("error", () => {
      // body() throws the error. If the body is not read, the error is ignored.
    });
    const endsByClose = !(
      "content-length" in answer.headers || "transfer-encoding" in answer.headers
    );
    return {
      ...readAnswer(answer.statusCode, answer.headers, rest !== undefined),
      body: () => whole(unstalled(answer.body, limits), endsByClose ? broken : {}),
      [Symbol.asyncDispose]: () => agent.destroy(),
    };
  } catch (error) {
    await agent.destroy();
    throw error;
  } finally {
    head.end();
  }
}

/** The options that decide where a connection may go. */
export type GuardOptions = Pick<HopOptions, "allow" | "resolve" | "signal"> & {
  readonly limits: Pick<HopLimits, "connectMs">;
};

/**
 * Opens an agent that connects to the host of the URL, and only at allowed addresses. Throws the
 * same error for every host without an allowed address.
 */
export async function openGuardedAgent(
  url: URL,
  options: GuardOptions,
  onConnected: (socket: Socket) => void = () => {},
): Promise<Agent> {
  const addresses = await vettedAddresses(url, options);
  const { connectMs } = options.limits;
  return new Agent({
    connect: pinnedConnector(addresses, { connectMs, onConnected }),
    maxHeaderSize: headerBytesMax,
    allowH2: false,
  });
}

/**
 * Yields the bytes of media that ends with its connection. If the connection breaks, the media is
 * incomplete, but undici treats the break as a normal end.
 */
async function* whole(
  bytes: AsyncIterable<Uint8Array>,
  broken: { readonly by?: Error },
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* bytes;
  if (broken.by) throw broken.by;
}

/**
 * Limits the wait for the response headers. undici would restart its timer after each 1xx response.
 */
class HeadDeadline {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  begin(): void {
    const late = Object.assign(new Error("no head in time"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    this.#timer = setTimeout(() => this.#abort.abort(late), this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Returns the target of a redirect. Throws ServiceError if the redirect must not be followed. */
export function redirectTarget(from: URL, location: string, allow: MediaAllowList): URL {
  const target = URL.parse(location, from.href);
  const refused = (why: string): ServiceError =>
    new ServiceError("failed_precondition", `the URL redirects to one that ${why}`, {
      reason: "MEDIA_URL_REFUSED",
    });
  if (!target) throw refused("is not a valid URL");
  if (from.protocol === "https:" && target.protocol === "http:") {
    throw refused("begins with http://, which is not followed from https://");
  }
  const violation = checkMediaUrl(target.href, allow);
  if (violation === notPublic) throw addressRefused();
  if (violation !== undefined) throw refused(violation);
  return target;
}

/**
 * Returns the addresses that may be connected to. Throws the same error for every host without such
 * an address, before any connection.
 */
async function vettedAddresses(url: URL, options: GuardOptions): Promise<ReadonlySet<string>> {
  const target = targetOf(url);
  const { host } = target;
  const { allow, limits, signal } = options;
  const all =
    isIP(host) === 0 ? await withDeadline(options.resolve(host), limits.connectMs, signal) : [host];
  const reachable = all.filter((address) => isAddressAllowed(target, address, allow));
  if (reachable.length === 0) throw addressRefused();
  const vetted = reachable.filter((address) => isPortAllowedAt(target, address, allow));
  if (vetted.length === 0) {
    throw new ServiceError("failed_precondition", `the URL of the media ${portRefusal(target)}`, {
      reason: "MEDIA_URL_REFUSED",
    });
  }
  return new Set(vetted.slice(0, addressesMax).map(plainAddress));
}

/** Limits the time of a DNS lookup, which can be abandoned but not cancelled. */
async function withDeadline<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const late = (): void => reject(Object.assign(new Error("lookup"), { code: "EAI_AGAIN" }));
  const timer = setTimeout(late, ms);
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([promise, ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
