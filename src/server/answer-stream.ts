import type { OutgoingHttpHeaders } from "node:http";
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
   * The headers go out with the first answer, and at the latest after this; until then a failure
   * has a status of its own.
   */
  readonly headersMsMax: number;
  /** How often a stream says that it is alive, where its format can. */
  readonly aliveMs: number;
  /** A caller that takes nothing for this long is let go. */
  readonly unsentMsMax: number;
}

export const streamLimits: StreamLimits = {
  headersMsMax: 500,
  aliveMs: 15_000,
  unsentMsMax: 30_000,
};

/** Longest piece that is written at once, in bytes: what a caller must take within unsentMsMax. */
const pieceBytesMax = 128 << 10;

/**
 * Sends the answers of a server stream in `envelope`, each as soon as it is there; the method is
 * asked for the next one when the caller has room for it. Throws what happens before the first
 * answer; later failures become the last message.
 */
export async function answerStream<T>(
  response: HttpResponse,
  answers: AsyncIterable<T>,
  parts: {
    readonly call: CallContext;
    readonly envelope: StreamEnvelope;
    /** An answer as the envelope has it. */
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
 * Sends the answers of a server stream that are google.api.HttpBody: their bytes one after the
 * other, with the type of the first. There is no room for a failure between them: the answer breaks
 * off, and the caller sees that it is not whole.
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
    out.begin("application/octet-stream");
    out.end("");
  } catch (error) {
    if (!response.headersSent) throw error;
    if (!out.isClosed) answerError(error);
    breakOff(response);
  }
}

/**
 * Sends an answer whose size is in its headers, piece by piece as the caller takes them; one that
 * cannot be ended breaks off.
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
  try {
    for await (const piece of pieces) await out.send(piece);
    out.end("");
  } catch (error) {
    breakOff(response);
    throw error;
  }
}

/** The body of a streamed answer on its way to the caller. */
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
    // Of a caller that has gone; "close" tells it too.
    response.on("error", () => {});
  }

  get isClosed(): boolean {
    return isClosed(this.#response);
  }

  /**
   * Sends the headers after a while, should there be no answer by then, and keeps the stream alive
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
      // Not before the headers.
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
      // Told to nginx, which else collects answers before it passes them on.
      "x-accel-buffering": "no",
      ...this.#call.answerHeaders,
      "content-type": contentType,
    });
  }

  /**
   * Resolves when there is room for more. Throws cancelled when the caller goes or takes nothing.
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
      const problem = `the caller took nothing for ${unsentMsMax / 1000} s`;
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
  // No character of a string takes more than three bytes for each of its units.
  if (chunk.length * (typeof chunk === "string" ? 3 : 1) <= pieceBytesMax) {
    if (chunk.length > 0) yield chunk;
    return;
  }
  const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  for (let start = 0; start < bytes.length; start += pieceBytesMax) {
    yield bytes.subarray(start, start + pieceBytesMax);
  }
}
