import { exportsPath, mediaPath, waveformPath } from "../media/media-records.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { uploadPath } from "../media/uploads.ts";
import { ServiceError } from "../std/service-error.ts";
import { answerExport, type ExportParts } from "./answer-export.ts";
import { answerMedia, type MediaParts } from "./answer-media.ts";
import { targetOf, writeHead, type HttpDoor } from "./http.ts";
import { receiveUpload, type UploadParts } from "./receive-upload.ts";
import { answerWaveform } from "./waveform.ts";

export interface MediaDoorParts extends UploadParts, MediaParts, ExportParts {
  readonly urls: SignedUrls;
  /** Returns the JSON text of a media waveform, or undefined if there is none. */
  readonly findWaveform: (mediaId: string) => Promise<AsyncIterable<string> | undefined>;
}

const methods = "GET, HEAD, PUT, OPTIONS";

/**
 * Creates the door of signed URLs (§4.7) under /media/: one PUT of media to an upload, and GET and
 * HEAD of a transcript's media, of its waveform and of its exported files. The signature is the
 * only authorization.
 */
export function createMediaDoor(parts: MediaDoorParts): HttpDoor {
  return {
    handles: (request) => targetOf(request).startsWith("/media/"),
    // The door checks the headers of an upload before gigabytes are sent.
    asksForBody: true,
    async handle(request, response) {
      const method = request.method ?? "";
      if (method === "OPTIONS") {
        writeHead(response, 204, { allow: methods });
        response.end();
        return;
      }
      if (method !== "GET" && method !== "HEAD" && method !== "PUT") {
        throw notAllowed(method);
      }
      const grant = parts.urls.verify(method, targetOf(request));
      if (!grant) throw notSigned();
      const { path } = grant;
      if (grant.method === "PUT") {
        await receiveUpload(
          parts,
          { ...grant, uploadId: idOf(path, uploadPath) },
          request,
          response,
        );
      } else if (path.startsWith(waveformPath(""))) {
        await answerWaveform(parts, idOf(path, waveformPath), request, response);
      } else if (path.startsWith(exportsPath)) {
        await answerExport(parts, path, request, response);
      } else await answerMedia(parts, idOf(path, mediaPath), request, response);
    },
  };
}

/** Returns the last part of a signed path. Throws if the path has another form. */
function idOf(path: string, pathOf: (id: string) => string): string {
  const id = path.slice(path.lastIndexOf("/") + 1);
  if (pathOf(id) !== path) throw notSigned();
  return id;
}

function notAllowed(method: string): ServiceError {
  return new ServiceError("unimplemented", `media accepts ${methods}, not ${method}`, {
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
