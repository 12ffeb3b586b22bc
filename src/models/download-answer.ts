import { Agent, request, type Dispatcher } from "undici";
import { ServiceError } from "../std/service-error.ts";
import { isDownloadUrl } from "./catalogue.ts";
import { codeOf } from "./durable-files.ts";

export interface DownloadLimits {
  readonly connectMs: number;
  readonly headersMs: number;
  /** The maximum time without a byte, after which an attempt ends. */
  readonly stallMs: number;
  readonly redirectsMax: number;
  /** The maximum number of attempts in a row without progressBytesMin of progress. */
  readonly attemptsMax: number;
  readonly progressBytesMin: number;
  /** The delay before the second attempt. The delay doubles before each later attempt. */
  readonly backoffMs: number;
}

export const downloadLimits: DownloadLimits = {
  connectMs: 15_000,
  headersMs: 60_000,
  stallMs: 60_000,
  redirectsMax: 5,
  attemptsMax: 5,
  progressBytesMin: 1 << 20,
  backoffMs: 1000,
};

export interface DownloadRequest {
  readonly url: string;
  readonly limits: DownloadLimits;
  readonly signal?: AbortSignal;
  /** Requests only the bytes from `from` on, if the validator still matches. */
  readonly rest?: { readonly from: number; readonly validator: string };
}

/**
 * The response of a server that sends a file or the rest of it. Disposing of it closes the
 * connection.
 */
export interface DownloadAnswer extends AsyncDisposable {
  /** The position of the first byte that the server sends. */
  readonly from: number;
  /** The size of the whole file, if the server reports it. */
  readonly totalBytes: number | undefined;
  /** The strong ETag or Last-Modified. */
  readonly validator: string | undefined;
  /** Yields the bytes. Throws ServiceError "unavailable" if the connection breaks or stalls. */
  body(): AsyncGenerator<Uint8Array, void, undefined>;
}

/**
 * Requests a file and follows redirects. Throws ServiceError: "unavailable" for failures that may
 * be temporary, and any other code for failures that are not.
 */
export async function openDownload(options: DownloadRequest): Promise<DownloadAnswer> {
  let url = new URL(options.url);
  if (!isDownloadUrl(url)) throw refused(options.url, "is not https");
  for (let redirects = 0; ; redirects++) {
    await using opened = new AsyncDisposableStack();
    const { answer, agent } = await ask(url, options);
    opened.defer(() => agent.destroy());
    const location = headerOf(answer, "location");
    if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) {
      return answerOf(answer, options, opened.move());
    }
    if (redirects === options.limits.redirectsMax) {
      throw refused(options.url, `redirects more than ${options.limits.redirectsMax} times`);
    }
    url = redirectTarget(url, location, options.url);
  }
}

async function ask(
  url: URL,
  { rest, limits, signal, url: asked }: DownloadRequest,
): Promise<{ answer: Dispatcher.ResponseData; agent: Agent }> {
  const agent = new Agent({
    connect: { timeout: limits.connectMs },
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.stallMs,
    allowH2: false,
  });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      method: "GET",
      headers: {
        "accept-encoding": "identity",
        "user-agent": "hlust",
        ...(rest && { range: `bytes=${rest.from}-`, "if-range": rest.validator }),
      },
      ...(signal && { signal }),
    });
    answer.body.on("error", () => {
      // body() throws the error; if the body is not read, the error does not matter.
    });
    return { answer, agent };
  } catch (error) {
    await agent.destroy();
    signal?.throwIfAborted();
    throw explain(error, asked);
  }
}

function answerOf(
  answer: Dispatcher.ResponseData,
  { url, rest, signal }: DownloadRequest,
  connection: AsyncDisposableStack,
): DownloadAnswer {
  try {
    checkStatus(answer, url, rest !== undefined);
  } catch (error) {
    void connection.disposeAsync();
    throw error;
  }
  const isPart = answer.statusCode === 206;
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headerOf(answer, "content-range") ?? "");
  const length = isPart ? range?.[2] : headerOf(answer, "content-length");
  const etag = headerOf(answer, "etag");
  return {
    from: isPart ? Number(range?.[1] ?? Number.NaN) : 0,
    totalBytes: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
    validator: etag?.startsWith('"') === true ? etag : headerOf(answer, "last-modified"),
    async *body() {
      try {
        yield* answer.body as AsyncIterable<Uint8Array>;
      } catch (error) {
        signal?.throwIfAborted();
        throw explain(error, url);
      }
    },
    [Symbol.asyncDispose]: () => connection.disposeAsync(),
  };
}

/** Throws unless the response contains the file, unencoded. */
function checkStatus(
  answer: Dispatcher.ResponseData,
  url: string,
  wasRestRequested: boolean,
): void {
  const { statusCode: status } = answer;
  if (status === 200 || (status === 206 && wasRestRequested)) {
    const encoding = headerOf(answer, "content-encoding")?.trim().toLowerCase() ?? "identity";
    if (encoding !== "identity") throw refused(url, `answers ${encoding}, which was not requested`);
    return;
  }
  const passes = status === 408 || status === 429 || status >= 500;
  throw new ServiceError(
    passes ? "unavailable" : status === 404 || status === 410 ? "not_found" : "failed_precondition",
    `${url} answers ${status}`,
  );
}

/**
 * Returns the target of a redirect. Throws if the redirect must not be followed. The target's query
 * is a secret of the server, so errors show only the origin.
 */
function redirectTarget(from: URL, location: string, asked: string): URL {
  const target = URL.parse(location, from.href);
  if (!target) throw refused(asked, "redirects to an invalid URL");
  const isDowngrade = from.protocol === "https:" && target.protocol !== "https:";
  if (isDowngrade || !isDownloadUrl(target)) {
    throw refused(asked, `redirects to ${target.origin}, which is not https`);
  }
  return target;
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function refused(url: string, why: string): ServiceError {
  return new ServiceError("failed_precondition", `${url} ${why}`);
}

/**
 * Returns the error for a failed connection. A certificate error is not temporary; all other
 * connection errors may be.
 */
function explain(error: unknown, url: string): ServiceError {
  const code = codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined) ?? "";
  const text = error instanceof Error && error.message !== "" ? error.message : code;
  if (/^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return new ServiceError(
      "failed_precondition",
      `${url}: the server cannot be trusted: ${code}`,
      {
        cause: error,
      },
    );
  }
  return new ServiceError("unavailable", `${url}: ${text}`, { cause: error });
}
