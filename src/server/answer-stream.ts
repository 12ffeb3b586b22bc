import type { OutgoingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnswerError } from "./answer-errors.ts";
import { clientGone } from "./client-gone.ts";
import { canRepeat, statusJson } from "./answer-errors.ts";
import type { CallContext } from "./call-context.ts";
import {
  breakOff,
  endBody,
  flushHead,
  isClosed,
  writeHead,
  writePart,
  type HttpResponse,
} from "./http.ts";
import { untilAborted } from "../std/until-aborted.ts";
import type { StreamEnvelope } from "../transcoding/stream-envelope.ts";
import type { HttpContent } from "../transcoding/write-response.ts";
import { ServiceError } from "../std/service-error.ts";

export interface StreamLimits {
  /**
   * The maximum delay before the headers are sent; they are sent earlier with the first message. A
   * failure before that has its own HTTP status.
   */
  readonly headersMsMax: number;
  /** How often a stream sends a keep-alive message, if its format allows one. */
  readonly aliveMs: number;
  /** The maximum time for which a client may read nothing. After this time, it is disconnected. */
  readonly unsentMsMax: number;
}

export const streamLimits: StreamLimits = {
  headersMsMax: 500,
  aliveMs: 15_000,
  unsentMsMax: 30_000,
};

/** The content type of a stream of bytes that has no first response. */
export const bytesType = "application/octet-stream";

/** The maximum number of bytes written in one step. A client must read them within unsentMsMax. */
const pieceBytesMax = 128 << 10;

/**
 * Sends the responses of a server stream in `envelope`, each as soon as the method yields it. The
 * next response is requested when the client can receive more. Throws failures before the first
 * response; later failures become the last message.
 */
export async function answerStream<T>(
  response: HttpResponse,
  answers: AsyncIterable<T>,
  parts: {
    readonly call: CallContext;
    readonly envelope: StreamEnvelope;
    /** Returns the bytes of a response in the envelope. */
    readonly write: (answer: T) => Uint8Array;
    readonly answerError: AnswerError;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  const { call, envelope, write, answerError } = parts;
  using out = new StreamOut(response, call, parts.limits);
  out.beginSoon(envelope);
  try {
    for await (const answer of untilAborted(answers, call.signal)) {
      const bytes = write(answer);
      out.begin(envelope.contentType);
      await out.send(bytes);
    }
    out.begin(envelope.contentType);
    out.end(envelope.end);
  } catch (error) {
    if (!response.headersSent || out.isClosed) throw error;
    const failure = answerError(error);
    const status = JSON.stringify(statusJson(failure));
    out.end(envelope.error(status, { canRepeat: canRepeat(failure) }));
  }
}

/**
 * Sends the responses of a server stream that are google.api.HttpBody: their bytes in sequence,
 * with the content type of the first. A failure after the first response cannot be sent. In that
 * case, the HTTP response is aborted, so that the client notices that it is incomplete.
 */
export async function answerBytes<T>(
  response: HttpResponse,
  answers: AsyncIterable<T>,
  parts: {
    readonly call: CallContext;
    readonly contentOf: (answer: T) => HttpContent;
    readonly answerError: AnswerError;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  const { call, contentOf, answerError } = parts;
  using out = new StreamOut(response, call, parts.limits);
  try {
    for await (const answer of untilAborted(answers, call.signal)) {
      const { contentType, data } = contentOf(answer);
      out.begin(contentType);
      await out.send(data);
    }
    out.begin(bytesType);
    out.end("");
  } catch (error) {
    if (!response.headersSent) throw error;
    if (!out.isClosed) answerError(error);
    breakOff(response);
  }
}

/**
 * Answers a HEAD request for a server stream with the headers that its GET has, and ends the
 * method. Throws failures before the first response.
 */
export async function answerHead<T>(
  response: HttpResponse,
  answers: AsyncIterable<T>,
  parts: {
    readonly call: CallContext;
    /** Returns the content type for the first response, or without one. */
    readonly contentTypeOf: (first: T | undefined) => string;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  const { call, contentTypeOf, limits } = parts;
  using out = new StreamOut(response, call, limits);
  const each = untilAborted(answers, call.signal);
  const first = each.next();
  const waiting = new AbortController();
  const none = sleep(limits.headersMsMax, undefined, { signal: waiting.signal });
  try {
    const answer = await Promise.race([first, none]);
    out.begin(contentTypeOf(answer?.done === true ? undefined : answer?.value));
    endBody(response, "");
  } finally {
    for (const rest of [first, none]) rest.catch(() => {});
    waiting.abort();
    // A pending next() ends by the abort, and the method after it by return().
    call.abort(clientGone());
    each.return().catch(() => {});
  }
}

/**
 * Sends a response of known size part by part, as the client reads it. A response that fails is
 * aborted.
 */
export async function answerPieces(
  response: HttpResponse,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  parts: {
    readonly call: CallContext;
    readonly headers: OutgoingHttpHeaders;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  using out = new StreamOut(response, parts.call, parts.limits);
  if (out.isClosed) return;
  writeHead(response, 200, parts.headers);
  if (response.req.method === "HEAD") {
    response.end();
    return;
  }
  try {
    for await (const piece of pieces) await out.send(piece);
    out.end("");
  } catch (error) {
    breakOff(response);
    throw error;
  }
}

/** The body of a streamed response. */
class StreamOut implements Disposable {
  readonly #response: HttpResponse;
  readonly #call: CallContext;
  readonly #limits: StreamLimits;
  #beginTimer: NodeJS.Timeout | undefined;
  #aliveTimer: NodeJS.Timeout | undefined;

  constructor(response: HttpResponse, call: CallContext, limits: StreamLimits) {
    this.#response = response;
    this.#call = call;
    this.#limits = limits;
    // If the client has already disconnected, the response emits "error"; if it disconnects later,
    // the response emits "close".
    response.on("error", () => {});
  }

  get isClosed(): boolean {
    return isClosed(this.#response);
  }

  /**
   * Sends the headers after `headersMsMax` if there is no message by then, and keep-alive messages
   * from then on.
   */
  beginSoon({ contentType, alive }: StreamEnvelope): void {
    const { headersMsMax, aliveMs } = this.#limits;
    this.#beginTimer = setTimeout(() => {
      this.begin(contentType);
      flushHead(this.#response);
    }, headersMsMax);
    if (alive === "") return;
    this.#aliveTimer = setInterval(() => {
      // No keep-alive message is sent before the headers.
      this.begin(contentType);
      if (!this.isClosed) writePart(this.#response, alive);
    }, aliveMs);
  }

  begin(contentType: string): void {
    clearTimeout(this.#beginTimer);
    if (this.#response.headersSent || this.isClosed) return;
    writeHead(this.#response, 200, {
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      // This header is for nginx, which otherwise buffers responses before it forwards them.
      "x-accel-buffering": "no",
      ...this.#call.answerHeaders,
      "content-type": contentType,
    });
  }

  /**
   * Resolves when more can be written. Throws cancelled if the client disconnects or reads nothing.
   */
  async send(chunk: string | Uint8Array): Promise<void> {
    for (const piece of piecesOf(chunk)) {
      if (this.isClosed) throw clientGone();
      if (!writePart(this.#response, piece)) await this.#room();
    }
  }

  end(tail: string): void {
    endBody(this.#response, tail);
    if (this.#response.writableFinished) return;
    const timer = this.#cutLater(() => {});
    this.#response.once("close", () => {
      clearTimeout(timer);
    });
  }

  #room(): Promise<void> {
    if (this.isClosed) throw clientGone();
    const response = this.#response;
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        response.off("drain", onDrain).off("close", onClose);
      };
      const onDrain = () => {
        settle();
        resolve();
      };
      const onClose = () => {
        settle();
        reject(clientGone());
      };
      const timer = this.#cutLater(onClose);
      response.on("drain", onDrain).on("close", onClose);
    });
  }

  #cutLater(then: () => void): NodeJS.Timeout {
    const { unsentMsMax } = this.#limits;
    return setTimeout(() => {
      const problem = `the client read nothing for ${unsentMsMax / 1000} s`;
      this.#call.abort(new ServiceError("cancelled", problem));
      breakOff(this.#response);
      then();
    }, unsentMsMax);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#beginTimer);
    clearInterval(this.#aliveTimer);
  }
}

function* piecesOf(chunk: string | Uint8Array): Generator<string | Uint8Array> {
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  if (chunk.length * (typeof chunk === "string" ? 3 : 1) <= pieceBytesMax) {
    if (chunk.length > 0) yield chunk;
    return;
  }
  const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  for (let start = 0; start < bytes.length; start += pieceBytesMax) {
    yield bytes.subarray(start, start + pieceBytesMax);
  }
}
