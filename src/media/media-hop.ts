import { isIP } from "node:net";
import { Agent, buildConnector, request, type Dispatcher } from "undici";
import { ServiceError } from "../std/service-error.ts";
import {
  checkMediaUrl,
  hostOf,
  isAddressAllowed,
  isPortAllowedAt,
  notPublic,
  plainAddress,
  type MediaAllowList,
} from "./media-url.ts";

/** Addresses of a host name; rejects like dns.lookup. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export interface HopLimits {
  readonly connectMs: number;
  readonly headersMs: number;
  /** A transfer of less than stallBytesMin in stallMs is given up. */
  readonly stallMs: number;
  readonly stallBytesMin: number;
}

export interface HopOptions {
  readonly allow: MediaAllowList;
  readonly resolve: Resolve;
  readonly limits: HopLimits;
  readonly signal: AbortSignal;
  /** Ask for the bytes from here on, if they are still those of `etag`. */
  readonly from?: number;
  readonly etag?: string;
}

/** One answered request: a redirect, or bytes. Disposing it closes the connection. */
export interface Hop extends AsyncDisposable {
  readonly location: string | undefined;
  /** A strong one. */
  readonly etag: string | undefined;
  /** Bytes of the whole media, where the server told. */
  readonly bytes: number | undefined;
  /** The first byte of this answer, when it is a part. */
  readonly rangeFrom: number | undefined;
  /** Throws when less than stallBytesMin comes in stallMs. */
  body(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** Asks one server, at an address that was checked before and is checked again once connected. */
export async function openHop(url: URL, options: HopOptions): Promise<Hop> {
  const addresses = await vettedAddresses(url, options);
  const agent = new Agent({
    connect: pinnedConnector(addresses, options.limits.connectMs),
    maxHeaderSize: 16_384,
    allowH2: false,
  });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: "GET",
      headers: {
        accept: "audio/*, video/*, */*;q=0.5",
        "accept-encoding": "identity",
        "user-agent": "hlust",
        ...(options.from !== undefined &&
          options.etag !== undefined && {
            range: `bytes=${options.from}-`,
            "if-range": options.etag,
          }),
      },
      headersTimeout: options.limits.headersMs,
      bodyTimeout: 0,
      signal: options.signal,
    });
    answer.body.on("error", () => {
      // body() throws it; a body that nobody reads has nobody to tell.
    });
    return hopOf(answer, agent, options);
  } catch (error) {
    await agent.destroy();
    throw error;
  }
}

function hopOf(answer: Dispatcher.ResponseData, agent: Agent, options: HopOptions): Hop {
  const { statusCode: status, body } = answer;
  const header = (name: string): string | undefined => {
    const value = answer.headers[name];
    return Array.isArray(value) ? value[0] : value;
  };
  const location = [301, 302, 303, 307, 308].includes(status) ? header("location") : undefined;
  const etag = header("etag");
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(header("content-range") ?? "");
  const length = status === 206 ? range?.[2] : header("content-length");
  if (location === undefined) checkAnswer(status, header("content-encoding"), options.from);
  return {
    location,
    etag: etag?.startsWith('"') === true ? etag : undefined,
    bytes: length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined,
    rangeFrom: status === 206 && range ? Number(range[1]) : undefined,
    body: () => unstalled(body, options.limits),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** Throws unless the answer has the bytes as they are. */
function checkAnswer(status: number, encoding: string | undefined, from: number | undefined): void {
  if (status !== 200 && !(status === 206 && from !== undefined)) throw new StatusError(status);
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    throw new ServiceError(
      "failed_precondition",
      "the server of the media answered compressed data (Content-Encoding), which is not taken",
      { reason: "MEDIA_ENCODED" },
    );
  }
}

/** The server answered, but not with media. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** Where a redirect leads; throws ServiceError where it must not be followed. */
export function redirectTarget(from: URL, location: string, allow: MediaAllowList): URL {
  const target = URL.parse(location, from.href);
  const refused = (why: string): ServiceError =>
    new ServiceError("failed_precondition", `the URL redirects to one that ${why}`, {
      reason: "MEDIA_URL_REFUSED",
    });
  if (!target) throw refused("is not a URL");
  if (from.protocol === "https:" && target.protocol === "http:") {
    throw refused("begins with http://: from https:// that is not followed");
  }
  const violation = checkMediaUrl(target.href, allow);
  if (violation === notPublic) throw addressRefused();
  if (violation !== undefined) throw refused(violation);
  return target;
}

/** The addresses that may be connected to; throws the same for every host that has none, before any connection. */
async function vettedAddresses(url: URL, options: HopOptions): Promise<ReadonlySet<string>> {
  const host = hostOf(url);
  const { allow, limits, signal } = options;
  const all = isIP(host)
    ? [host]
    : await withDeadline(options.resolve(host), limits.connectMs, signal);
  const reachable = all.filter((address) => isAddressAllowed(host, address, allow));
  if (reachable.length === 0) throw addressRefused();
  const vetted = reachable.filter((address) => isPortAllowedAt(url, host, address, allow));
  if (vetted.length === 0) throw portRefused(url);
  return new Set(vetted.map(plainAddress));
}

function portRefused({ port }: URL): ServiceError {
  return new ServiceError(
    "failed_precondition",
    `the URL of the media has the port ${port}: only 80 and 443 are reached`,
    { reason: "MEDIA_URL_REFUSED" },
  );
}

function addressRefused(): ServiceError {
  return new ServiceError("failed_precondition", notPublic, { reason: "MEDIA_ADDRESS_REFUSED" });
}

/** A name that is looked up cannot be called off; it can be waited for no longer. */
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

/** Connects to these addresses and to no other, whatever the name says by now. */
function pinnedConnector(
  addresses: ReadonlySet<string>,
  connectMs: number,
): buildConnector.connector {
  const list = [...addresses].map((address) => ({ address, family: isIP(address) }));
  const connect = buildConnector({
    timeout: connectMs,
    allowH2: false,
    maxCachedSessions: 0,
    autoSelectFamily: true,
    lookup: (_host, { all }, callback) => {
      const [first] = list;
      if (all) callback(null, list);
      else if (first) callback(null, first.address, first.family);
    },
  });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) callback(error, null);
      else if (addresses.has(plainAddress(socket.remoteAddress ?? ""))) callback(null, socket);
      else {
        socket.destroy();
        callback(addressRefused(), null);
      }
    });
}

async function* unstalled(
  body: Dispatcher.ResponseData["body"],
  { stallMs, stallBytesMin }: HopLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  const timer = setInterval(() => {
    if (bytes < stallBytesMin) body.destroy(tooSlow(stallMs, stallBytesMin));
    bytes = 0;
  }, stallMs);
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      yield chunk;
    }
  } finally {
    clearInterval(timer);
  }
}

function tooSlow(stallMs: number, stallBytesMin: number): ServiceError {
  const seconds = stallMs / 1000;
  return new ServiceError(
    "deadline_exceeded",
    `the media came slower than ${Math.round(stallBytesMin / seconds)} bytes a second for ${seconds} s`,
    { reason: "MEDIA_TOO_SLOW" },
  );
}
