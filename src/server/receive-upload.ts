import { mediaTooLarge } from "../media/media-store.ts";
import type { Uploads } from "../media/uploads.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { answerJson, askForBody, type HttpRequest, type HttpResponse } from "./http.ts";
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

function partial(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    "Content-Range is not accepted: send the whole media",
    {
      reason: "CONTENT_RANGE_NOT_TAKEN",
    },
  );
}
