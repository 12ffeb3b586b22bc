import { pipeline } from "node:stream/promises";
import { namesTag, readRange } from "../media/byte-range.ts";
import { mediaPath, type Media } from "../media/media-records.ts";
import { mediaTooLarge, type MediaStore } from "../media/media-store.ts";
import type { Grant, SignedUrls } from "../media/signed-url.ts";
import { uploadPath, type Uploads } from "../media/uploads.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerJson, targetOf, type HttpRequest, type HttpResponse } from "./http.ts";
import type { TargetDoor } from "./server.ts";

export interface MediaDoorParts {
  readonly urls: SignedUrls;
  readonly uploads: Uploads;
  readonly store: MediaStore;
  readonly findMedia: (id: string) => Promise<Media | undefined>;
  readonly log: Log;
  /** An upload in which nothing comes for this long is given up. Default 60 s. */
  readonly idleMsMax?: number;
}

const methods = "GET, HEAD, PUT, OPTIONS";

/**
 * The door of signed URLs (§4.7): one PUT of media to an upload, GET and HEAD of a transcript's media, under /media/. The signature
 * is the only authorization.
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
      if (grant.method === "GET") await download(parts, grant.path, request, response);
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
  { uploads, log, idleMsMax = 60_000 }: MediaDoorParts,
  { path, bytesMax }: Extract<Grant, { method: "PUT" }>,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const uploadId = idOf(path, uploadPath);
  const body = openBody(request, idleMsMax);
  try {
    if (request.headers["content-range"] !== undefined) throw partial();
    if (body.announced !== undefined && body.announced > bytesMax) throw mediaTooLarge(bytesMax);
    await uploads.check(uploadId);
    await uploads.receive(uploadId, body.bytes(), { bytesMax, signal: body.signal });
  } catch (error) {
    if (!body.isBroken()) throw drained(request, error);
    log.info({ uploadId }, "upload.broken_off");
    response.destroy();
    return;
  }
  answerJson(response, 200, "{}");
}

interface Body {
  /** Content-Length, when there is one. */
  readonly announced: number | undefined;
  /**
   * Aborts when the caller goes away or nothing comes for too long. Over HTTP/2 a stream may end first and be reset a moment later:
   * whoever has read all of it looks here again before the body counts.
   */
  readonly signal: AbortSignal;
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
    isBroken: () => isBroken,
    async *bytes() {
      const iterator: AsyncIterator<Uint8Array> = request.iterator({ destroyOnReturn: false });
      try {
        for (;;) {
          const timer = setTimeout(() => {
            broken.abort(stoodStill(idleMsMax));
          }, idleMsMax);
          const next = await iterator.next().finally(() => {
            clearTimeout(timer);
          });
          if (next.done) break;
          yield next.value;
        }
      } finally {
        await iterator.return?.();
      }
    },
  };
}

function partial(): ServiceError {
  return new ServiceError("invalid_argument", "Content-Range is not taken: send the whole media", {
    reason: "CONTENT_RANGE_NOT_TAKEN",
  });
}

function stoodStill(idleMsMax: number): ServiceError {
  return new ServiceError("deadline_exceeded", `the upload stood still for ${idleMsMax / 1000} s`);
}

/** What a refused caller still sends is read and dropped, so that it sees the answer; but not for ever. */
const drainMsMax = 5_000;

function drained(request: HttpRequest, error: unknown): unknown {
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
  const etag = `"${media.sha256.toString("hex")}"`;
  const headers = { ...headersOfMedia(media), etag };
  if (namesTag(request.headers["if-none-match"], etag)) {
    answer(response, 304, { etag, "cache-control": headers["cache-control"] });
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
  const bytes = range === "whole" ? await store.open(media.id) : await store.open(media.id, range);
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
    await pipeline(bytes, response);
  } catch (error) {
    response.destroy();
    log.info({ mediaId: media.id, ...errorFields(error) }, "download.broken_off");
  }
}

/** What callers uploaded is only ever data to a browser. */
function headersOfMedia({ contentType }: Media) {
  const isMedia = /^(?:audio|video)\//.test(contentType);
  return {
    "content-type": contentType,
    "content-disposition": isMedia ? "inline" : "attachment",
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
