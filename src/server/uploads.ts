import { namesTag, readRange } from "../media/byte-range.ts";
import { mediaPath, waveformPath, type Media } from "../media/media-records.ts";
import { mediaTooLarge, type ByteRange, type MediaStore } from "../media/media-store.ts";
import type { Grant, SignedUrls } from "../media/signed-url.ts";
import { uploadPath, type Uploads } from "../media/uploads.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import {
  answerJson,
  askForBody,
  isWaitingToSend,
  targetOf,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { sendChunks } from "./send-chunks.ts";
import type { TargetDoor } from "./server.ts";
import { answerWaveform } from "./waveform.ts";

export interface MediaDoorParts {
  readonly urls: SignedUrls;
  readonly uploads: Uploads;
  readonly store: MediaStore;
  readonly findMedia: (id: string) => Promise<Media | undefined>;
  /** The text of the waveform of media; undefined where there is none. */
  readonly findWaveform: (mediaId: string) => Promise<AsyncIterable<string> | undefined>;
  readonly log: Log;
  /** An upload in which nothing comes for this long is given up. Default 60 s. */
  readonly idleMsMax?: number;
  /** An upload that takes longer in all is given up, however it trickles. Default a day: its place is not kept for longer. */
  readonly uploadMsMax?: number;
}

const methods = "GET, HEAD, PUT, OPTIONS";

/**
 * The door of signed URLs (§4.7): one PUT of media to an upload, GET and HEAD of a transcript's media and of its waveform, under
 * /media/. The signature is the only authorization.
 */
export function createMediaDoor(parts: MediaDoorParts): TargetDoor {
  return {
    handles: (target) => target.startsWith("/media/"),
    async handle(request, response) {
      const method = request.method ?? "";
      if (method === "OPTIONS") {
        answer(response, 204, { allow: methods });
        return;
      }
      if (method !== "GET" && method !== "HEAD" && method !== "PUT") {
        throw drained(request, notAllowed(method));
      }
      const grant = parts.urls.verify(method, targetOf(request));
      if (!grant) throw drained(request, notSigned());
      if (grant.method === "GET" && grant.path.startsWith(waveformPath("")))
        await answerWaveform(parts, idOf(grant.path, waveformPath), request, response);
      else if (grant.method === "GET") await download(parts, grant.path, request, response);
      else await upload(parts, grant, request, response);
    },
  };
}

/** The last part of a signed path: what the service signed is well formed. */
function idOf(path: string, pathOf: (id: string) => string): string {
  const id = path.slice(path.lastIndexOf("/") + 1);
  if (pathOf(id) !== path) throw notSigned();
  return id;
}

function notAllowed(method: string): ServiceError {
  return new ServiceError("unimplemented", `media takes ${methods}, not ${method}`, {
    reason: "METHOD_NOT_ALLOWED",
    httpStatus: 405,
    metadata: { allow: methods },
  });
}

function notSigned(): ServiceError {
  return new ServiceError("permission_denied", "the URL is not valid for this, or has expired", {
    reason: "SIGNED_URL_INVALID",
  });
}

async function upload(
  { uploads, log, idleMsMax = 60_000, uploadMsMax = 24 * 3_600_000 }: MediaDoorParts,
  { path, bytesMax }: Extract<Grant, { method: "PUT" }>,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const uploadId = idOf(path, uploadPath);
  const body = openBody(request, idleMsMax);
  const stopListening = onEndOfAnswers(request, body.abort);
  const total = setTimeout(() => {
    body.abort(tooSlow(uploadMsMax));
  }, uploadMsMax);
  try {
    if (request.headers["content-range"] !== undefined) throw partial();
    if (body.announced !== undefined && body.announced > bytesMax) throw mediaTooLarge(bytesMax);
    await uploads.check(uploadId);
    askForBody(request, response);
    // The parser of HTTP/1.1 copies each chunk for its reader; those of HTTP/2 lie in memory that frames share.
    const ownsChunks = request.httpVersionMajor === 1;
    const bytes = ownsChunks ? body.bytes() : asAnnounced(body.bytes(), body.announced);
    await uploads.receive(uploadId, bytes, { bytesMax, signal: body.signal, ownsChunks });
  } catch (error) {
    if (!body.isBroken()) throw drained(request, error);
    log.info({ uploadId }, "upload.broken_off");
    response.destroy();
    return;
  } finally {
    clearTimeout(total);
    stopListening();
  }
  answerJson(response, 200, "{}");
}

/**
 * What comes behind the announced length of a PUT is taken for a request, and refused on the bare socket, which ends: the caller
 * reads that as the answer to its PUT. HTTP/2 resets the stream of such a body by itself.
 */
function onEndOfAnswers(request: HttpRequest, listener: (reason: unknown) => void): () => void {
  if (request.httpVersionMajor > 1) return () => {};
  const { socket } = request;
  const onFinish = (): void => {
    listener(new ServiceError("cancelled", "more came than was announced"));
  };
  if (socket.writableEnded) onFinish();
  else socket.once("finish", onFinish);
  return () => socket.off("finish", onFinish);
}

interface Body {
  /** Content-Length, when there is one. */
  readonly announced: number | undefined;
  /**
   * Aborts when the caller goes away or nothing comes for too long. Over HTTP/2 a stream may end first and be reset a moment later:
   * whoever has read all of it looks here again before the body counts.
   */
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  /** The whole body or an error, also where it is shorter than announced; leaving the loop leaves the connection open. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>;
  /** Whether the caller went away. */
  isBroken(): boolean;
}

function openBody(request: HttpRequest, idleMsMax: number): Body {
  const { "content-length": length } = request.headers;
  const announced = length === undefined ? undefined : Number(length);
  const broken = new AbortController();
  let isBroken = false;
  request.once("aborted", () => {
    isBroken = true;
    broken.abort(new ServiceError("cancelled", "the caller went away"));
  });
  // Whoever reads the body is told.
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
      let isWaiting = true;
      const timer = setTimeout(() => {
        if (isWaiting) broken.abort(stoodStill(idleMsMax));
      }, idleMsMax);
      try {
        for await (const chunk of chunks) {
          isWaiting = false;
          yield chunk;
          isWaiting = true;
          timer.refresh();
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** HTTP/2 of Node ends the body of a stream that breaks the protocol as if it were whole; it tells so too late. */
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
    throw new ServiceError("cancelled", `${count} bytes came of ${announced} that were announced`);
  }
}

function partial(): ServiceError {
  return new ServiceError("invalid_argument", "Content-Range is not taken: send the whole media", {
    reason: "CONTENT_RANGE_NOT_TAKEN",
  });
}

function stoodStill(idleMsMax: number): ServiceError {
  return new ServiceError("deadline_exceeded", `the upload stood still for ${idleMsMax / 1000} s`);
}

function tooSlow(uploadMsMax: number): ServiceError {
  const hours = uploadMsMax / 3_600_000;
  return new ServiceError("deadline_exceeded", `the upload was not whole after ${hours} h`);
}

/** What a refused caller still sends is read and dropped, so that it sees the answer; but not for ever. */
const drainMsMax = 5_000;

function drained(request: HttpRequest, error: unknown): unknown {
  if (isWaitingToSend(request)) return error;
  request.resume();
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, drainMsMax).unref();
  return error;
}

async function download(
  { store, findMedia, log }: MediaDoorParts,
  path: string,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const media = await findMedia(idOf(path, mediaPath));
  if (!media) throw new ServiceError("not_found", "the media is gone");
  // Media never changes under its id, while its hash is learnt some time after.
  const etag = `"${media.id}"`;
  const headers = { ...headersOfMedia(media), etag };
  if (namesTag(request.headers["if-none-match"], etag)) {
    answer(response, 304, { etag, "cache-control": headers["cache-control"] });
    return;
  }
  if (store.direct && request.method === "GET") {
    // Range and the conditions of the request go there with it.
    const { "content-type": contentType, "content-disposition": disposition } = headers;
    const location = await store.direct.downloadUrl(media.id, { contentType, disposition });
    answer(response, 307, { location, "cache-control": "no-store" });
    return;
  }
  const ifRange = request.headers["if-range"];
  const isRanged = request.method === "GET" && (ifRange === undefined || ifRange === etag);
  const range = isRanged ? readRange(request.headers.range, media.sizeBytes) : "whole";
  if (range === "unsatisfiable") {
    response.setHeader("content-range", `bytes */${media.sizeBytes}`);
    throw unsatisfiable(media.sizeBytes);
  }
  if (request.method === "HEAD") {
    answer(response, 200, { ...headers, "content-length": `${media.sizeBytes}` });
    return;
  }
  // Opened before the answer begins: media that is damaged is still answered with an error.
  const bytes =
    range === "whole" ? await openWhole(store, media) : await openRange(store, media.id, range);
  if (range === "whole") {
    begin(response, 200, { ...headers, "content-length": `${media.sizeBytes}` });
  } else {
    begin(response, 206, {
      ...headers,
      "content-length": `${range.end - range.start + 1}`,
      "content-range": `bytes ${range.start}-${range.end}/${media.sizeBytes}`,
    });
  }
  try {
    await sendChunks(response, bytes);
  } catch (error) {
    response.destroy();
    log.info({ mediaId: media.id, ...errorFields(error) }, "download.broken_off");
  }
}

async function openWhole(
  store: MediaStore,
  { id, sizeBytes }: Media,
): Promise<AsyncIterable<Uint8Array>> {
  return sizeBytes === 0
    ? await store.open(id)
    : await openRange(store, id, { start: 0, end: sizeBytes - 1 });
}

async function openRange(
  store: MediaStore,
  id: string,
  range: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  return (await store.openChunks?.(id, range)) ?? (await store.open(id, range));
}

/** What callers uploaded is only ever data to a browser. */
function headersOfMedia({ contentType }: Media) {
  const isMedia = /^(?:audio|video)\//.test(contentType);
  const disposition: "inline" | "attachment" = isMedia ? "inline" : "attachment";
  return {
    "content-type": contentType,
    "content-disposition": disposition,
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "accept-ranges": "bytes",
    "cache-control": "private",
  };
}

function unsatisfiable(sizeBytes: number): ServiceError {
  return new ServiceError(
    "out_of_range",
    `the range begins past the ${sizeBytes} bytes there are`,
    {
      reason: "RANGE_NOT_SATISFIABLE",
      httpStatus: 416,
    },
  );
}

/** Both versions of the protocol have these, but no type in common that calls writeHead(). */
function begin(response: HttpResponse, status: number, headers: Record<string, string>): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

function answer(response: HttpResponse, status: number, headers: Record<string, string>): void {
  begin(response, status, headers);
  response.end();
}
