import { ApiError } from "../api/api-error.ts";
import { Pause } from "./pause.ts";
import { putFile } from "./put-file.ts";
import { initUpload, type UploadPlace } from "./upload-place.ts";
import { waitOut } from "./wait-out.ts";

/** The progress of an upload. */
export interface Transfer {
  readonly sentBytes: number;
  /**
   * The temporary error that delays the upload, such as OFFLINE. The upload then restarts
   * automatically, from the first byte.
   */
  readonly waitsFor: ApiError | undefined;
}

/**
 * Uploads a file and returns `uploads/<id>`, for a job. Rejects in the same cases as waitOut().
 *
 * `begin` creates the upload, and creates another one when the first has become too old. `pause`:
 * its end() starts the next attempt immediately.
 */
export async function uploadFile(
  file: Blob,
  options: {
    readonly signal: AbortSignal;
    readonly onChange: (transfer: Transfer) => void;
    readonly begin?: (signal: AbortSignal) => Promise<UploadPlace>;
    readonly pause?: Pause;
  },
): Promise<string> {
  const { signal, onChange, begin = initUpload, pause = new Pause() } = options;
  const onSent = (sentBytes: number): void => onChange({ sentBytes, waitsFor: undefined });
  const onWait = (waitsFor: ApiError): void => onChange({ sentBytes: 0, waitsFor });
  let place: UploadPlace | undefined;
  let isAttempted = false;
  const send = async (): Promise<string> => {
    if (!place || place.staleAt <= Date.now()) {
      place = await begin(signal);
      isAttempted = false;
    }
    checkSize(file, place);
    onSent(0);
    const wasAttempted = isAttempted;
    isAttempted = true;
    try {
      await putFile(place.url, file, { signal, onSent });
    } catch (error) {
      if (!wasAttempted || !(error instanceof ApiError)) throw error;
      // The upload expired while the network was unavailable.
      if (error.status === 403 || error.status === 404) {
        place = undefined;
        return await send();
      }
      // The service already has the file, and only its response was lost: an upload is complete or
      // absent.
      if (error.reason !== "UPLOAD_USED") throw error;
    }
    return place.name;
  };
  return await waitOut(send, { signal, pause, onWait });
}

/** Throws the error that the service would return, before any byte is sent. */
export function checkSize({ size }: Blob, { bytesMax }: UploadPlace): void {
  if (bytesMax === undefined || size <= bytesMax) return;
  throw new ApiError(`the media is larger than ${bytesMax} bytes`, {
    status: 413,
    reason: "PAYLOAD_TOO_LARGE",
    metadata: { bytesMax: `${bytesMax}` },
  });
}
