import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { namesTag } from "../media/byte-range.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { endBody, isClientGone, writeHead, type HttpRequest, type HttpResponse } from "./http.ts";

/**
 * Answers GET and HEAD requests for a waveform, part by part as the client reads. Throws not_found.
 */
export async function answerWaveform(
  parts: {
    readonly findWaveform: (mediaId: string) => Promise<AsyncIterable<string> | undefined>;
    readonly log: Log;
  },
  mediaId: string,
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const text = await parts.findWaveform(mediaId);
  if (!text) throw new ServiceError("not_found", "the waveform was deleted");
  // Neither media nor a waveform ever changes under the same media id.
  const etag = `"${mediaId}"`;
  const caching = { etag, "cache-control": "private" };
  if (namesTag(request.headers["if-none-match"], etag)) {
    writeHead(response, 304, caching);
    endBody(response, "");
    return;
  }
  const type = { "content-type": "application/json", "x-content-type-options": "nosniff" };
  writeHead(response, 200, { ...type, ...caching });
  if (request.method === "HEAD") {
    endBody(response, "");
    return;
  }
  try {
    // The text is sent as bytes. For strings over HTTP/2, see bytesOf() in http.ts.
    await pipeline(Readable.from(bytesOf(text), { objectMode: false }), response);
  } catch (error) {
    const cause = isClientGone(request, response) ? { clientClosed: true } : errorFields(error);
    response.destroy();
    parts.log.info({ mediaId, ...cause }, "download.broken_off");
  }
}

async function* bytesOf(text: AsyncIterable<string>): AsyncGenerator<Buffer, void, undefined> {
  for await (const part of text) yield Buffer.from(part);
}
