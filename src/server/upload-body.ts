import { ServiceError } from "../std/service-error.ts";
import { bodyLimits, BodyPace } from "./body-pace.ts";
import { clientGone } from "./client-gone.ts";
import type { HttpRequest } from "./http.ts";

/** The limits of a request that uploads media. */
export interface UploadLimits {
  /** An upload that stalls for this long or arrives too slowly is aborted. Default: 60 s. */
  readonly idleMsMax?: number;
  /**
   * The maximum duration of an upload. Default: one day, since its space is not reserved for
   * longer.
   */
  readonly uploadMsMax?: number;
}

/** The body of a request that uploads media. */
export interface UploadBody {
  /** The Content-Length, if the request has one. */
  readonly announced: number | undefined;
  /**
   * Yields the whole body. Throws if the body is incomplete, even if it is only shorter than
   * announced. Leaving the loop early leaves the connection open.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /**
   * Aborts if the client disconnects or the body stalls. An HTTP/2 stream may end first and be
   * reset a moment later. Check the signal again after the last byte, before treating the body as
   * complete.
   */
  readonly signal: AbortSignal;
  /** Whether no other code uses the chunks. */
  readonly ownsChunks: boolean;
}

/**
 * Calls `receive` with the body of a request, within the limits. Returns what it returns, or
 * undefined if the client has closed the request.
 */
export async function readUpload<T>(
  request: HttpRequest,
  { idleMsMax = 60_000, uploadMsMax = 24 * 3_600_000 }: UploadLimits,
  receive: (body: UploadBody) => Promise<T>,
): Promise<T | undefined> {
  const body = openBody(request, idleMsMax);
  const stopListening = onEndOfAnswers(request, body.abort);
  const total = setTimeout(() => {
    body.abort(tooSlow(uploadMsMax));
  }, uploadMsMax);
  // The HTTP/1.1 parser copies each chunk for its reader. HTTP/2 chunks share memory with other
  // frames.
  const ownsChunks = request.httpVersionMajor === 1;
  const { announced, signal } = body;
  const bytes = ownsChunks ? body.bytes() : asAnnounced(body.bytes(), announced);
  try {
    return await receive({ announced, bytes, signal, ownsChunks });
  } catch (error) {
    if (body.isBroken()) return undefined;
    throw error;
  } finally {
    clearTimeout(total);
    stopListening();
  }
}

/**
 * Calls the listener if a PUT body has more bytes than announced. The extra bytes would be parsed
 * as another request and refused on the bare socket, and the client would mistake that refusal for
 * the response to its PUT. HTTP/2 itself resets the stream of such a body.
 */
function onEndOfAnswers(request: HttpRequest, listener: (reason: unknown) => void): () => void {
  if (request.httpVersionMajor > 1) return () => {};
  const { socket } = request;
  const onFinish = (): void => {
    listener(new ServiceError("cancelled", "the body is longer than its Content-Length"));
  };
  if (socket.writableEnded) onFinish();
  else socket.once("finish", onFinish);
  return () => socket.off("finish", onFinish);
}

interface Body {
  readonly announced: number | undefined;
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
  /** Whether the client closed the request. */
  isBroken(): boolean;
}

function openBody(request: HttpRequest, idleMsMax: number): Body {
  const { "content-length": length } = request.headers;
  const announced = length === undefined ? undefined : Number(length);
  const broken = new AbortController();
  let isBroken = false;
  request.once("aborted", () => {
    isBroken = true;
    broken.abort(clientGone());
  });
  // The error is passed to the reader of the body.
  request.on("error", () => {});
  return {
    announced,
    signal: broken.signal,
    abort: (reason) => {
      broken.abort(reason);
    },
    isBroken: () => isBroken,
    async *bytes() {
      const chunks: AsyncIterable<Uint8Array> = request.iterator({ destroyOnReturn: false });
      const pace = new BodyPace({ ...bodyLimits, idleMsMax });
      let isWaiting = true;
      const look = () => {
        const leftMs = isWaiting ? pace.leftMs() : idleMsMax;
        if (leftMs > 0) timer = setTimeout(look, leftMs);
        else broken.abort(pace.failure());
      };
      let timer = setTimeout(look, idleMsMax);
      try {
        for await (const chunk of chunks) {
          pace.add(chunk.length);
          isWaiting = false;
          yield chunk;
          isWaiting = true;
          pace.wait();
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/**
 * When a stream violates the protocol, Node's HTTP/2 ends its body as if the body were complete.
 * The error arrives too late.
 */
async function* asAnnounced(
  bytes: AsyncIterable<Uint8Array>,
  announced: number | undefined,
): AsyncGenerator<Uint8Array, void> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    yield chunk;
  }
  if (announced !== undefined && count !== announced) {
    throw new ServiceError("cancelled", `the body ended after ${count} of ${announced} bytes`);
  }
}

function tooSlow(uploadMsMax: number): ServiceError {
  const hours = uploadMsMax / 3_600_000;
  return new ServiceError(
    "deadline_exceeded",
    `the upload was not complete after ${hours} h: start it again`,
  );
}
