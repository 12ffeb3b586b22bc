import { mediaTooLarge } from "../media/media-store.ts";
import type { Uploads } from "../media/uploads.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { answerJson, type HttpRequest, type HttpResponse } from "./http.ts";
import { askForBody } from "./request-body.ts";
import { readUpload, type UploadLimits } from "./upload-body.ts";

export interface UploadParts extends UploadLimits {
  readonly uploads: Uploads;
  readonly log: Log;
}

/** Receives the body of a PUT request. Throws the error that explains a refusal. */
export async function receiveUpload(
  { uploads, log, ...limits }: UploadParts,
  { uploadId, bytesMax }: { readonly uploadId: string; readonly bytesMax: number },
  request: HttpRequest,
  response: HttpResponse,
): Promise<void> {
  const isReceived = await readUpload(request, limits, async ({ announced, bytes, ...body }) => {
    if (request.headers["content-range"] !== undefined) throw partial();
    checkIsMedia(request);
    if (announced !== undefined && announced > bytesMax) throw mediaTooLarge(bytesMax);
    const room = await uploads.check(uploadId, announced);
    askForBody(request, response);
    await uploads.receive(uploadId, bytes, { bytesMax, room, ...body });
    return true;
  });
  if (isReceived) {
    answerJson(response, 200, "{}");
    return;
  }
  log.info({ uploadId, requestId: callOriginOf(request).requestId }, "upload.broken_off");
  response.destroy();
}

/** Throws for a body that contains the media in another form, which would be stored as it is. */
function checkIsMedia({ headers }: HttpRequest): void {
  const type = headers["content-type"] ?? "";
  if (/^multipart\//i.test(type)) {
    throw unsupported("a multipart body is not accepted: send the bytes of the file as the body");
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() === "identity") return;
  throw unsupported(`Content-Encoding ${shown(encoding)} is not accepted: send the media itself`);
}

function unsupported(message: string): ServiceError {
  return new ServiceError("invalid_argument", message, {
    reason: "UNSUPPORTED_MEDIA_TYPE",
    httpStatus: 415,
  });
}

function partial(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    "Content-Range is not accepted: send the whole media",
    {
      reason: "CONTENT_RANGE_NOT_TAKEN",
    },
  );
}
