import { namesTag, readRange } from "../media/byte-range.ts";
import type { Media } from "../media/media-records.ts";
import type { ByteRange, MediaStore } from "../media/media-store.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { isClientGone, writeHead, type HttpRequest, type HttpResponse } from "./http.ts";
import { sendChunks } from "./send-chunks.ts";

export interface MediaParts {
  readonly store: MediaStore;
  readonly findMedia: (id: string) => Promise<Media | undefined>;
  readonly log: Log;
}

/**
 * Responds to GET and HEAD requests for a recording with all of it, a range, or a redirect to S3.
 * Throws not_found if the recording was deleted.
 */
export async function answerMedia(
  { store, findMedia, log }: MediaParts,
  mediaId: string,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const media = await findMedia(mediaId);
  if (!media) throw new ServiceError("not_found", "the media was deleted");
  // The media with a given id never changes; its hash may be computed later.
  const etag = `"${media.id}"`;
  const headers = { ...headersOfMedia(media), etag };
  if (namesTag(request.headers["if-none-match"], etag)) {
    answer(response, 304, { etag, "cache-control": headers["cache-control"] });
    return;
  }
  if (store.direct && request.method === "GET") {
    // The browser sends the Range header and the conditions of its request to S3 again.
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
  // The media is opened before the response begins, so that an error can still be sent for damaged
  // media.
  const bytes =
    range === "whole" ? await openWhole(store, media) : await openRange(store, media.id, range);
  if (range === "whole") {
    writeHead(response, 200, { ...headers, "content-length": `${media.sizeBytes}` });
  } else {
    writeHead(response, 206, {
      ...headers,
      "content-length": `${range.end - range.start + 1}`,
      "content-range": `bytes ${range.start}-${range.end}/${media.sizeBytes}`,
    });
  }
  try {
    await sendChunks(response, bytes);
  } catch (error) {
    // A browser closes its request at each seek, which is expected.
    const cause = isClientGone(request, response) ? { clientClosed: true } : errorFields(error);
    response.destroy();
    const { requestId } = callOriginOf(request);
    log.info({ mediaId: media.id, requestId, ...cause }, "download.broken_off");
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

/** Returns headers that make browsers treat uploads only as data. */
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
    `the range begins after the end of the media (${sizeBytes} bytes)`,
    {
      reason: "RANGE_NOT_SATISFIABLE",
      httpStatus: 416,
    },
  );
}

function answer(response: HttpResponse, status: number, headers: Record<string, string>): void {
  writeHead(response, status, headers);
  response.end();
}
