import { ApiError } from "../api/api-error.ts";
import { Pause } from "./pause.ts";
import { putFile } from "./put-file.ts";
import { initUpload, type UploadPlace } from "./upload-place.ts";
import { waitOut } from "./wait-out.ts";

/** How far a file is. */
export interface Transfer {
  readonly sentBytes: number;
  /**
   * What it waits to pass, as OFFLINE where the network is gone: it goes on by itself, from the
   * first byte.
   */
  readonly waitsFor: ApiError | undefined;
}

/**
 * Sends a file to the service and answers `uploads/<id>`, for a job to take; see waitOut() for what
 * it rejects with.
 *
 * `begin`: where the file goes, asked for anew when a place has got too old. `pause`: end() tries
 * again now.
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
  let isTried = false;
  const send = async (): Promise<string> => {
    if (!place || place.staleAt <= Date.now()) {
      place = await begin(signal);
      isTried = false;
    }
    checkSize(file, place);
    onSent(0);
    const wasTried = isTried;
    isTried = true;
    try {
      await putFile(place.url, file, { signal, onSent });
    } catch (error) {
      if (!wasTried || !(error instanceof ApiError)) throw error;
      // The place has gone while the network was.
      if (error.status === 403 || error.status === 404) {
        place = undefined;
        return await send();
      }
      // It is there, its answer had got lost: an upload is whole or nothing.
      if (error.reason !== "UPLOAD_USED") throw error;
    }
    return place.name;
  };
  return await waitOut(send, { signal, pause, onWait });
}

/** Throws what the service would answer, before a byte is sent. */
export function checkSize({ size }: Blob, { bytesMax }: UploadPlace): void {
  if (bytesMax === undefined || size <= bytesMax) return;
  throw new ApiError(`the media is larger than ${bytesMax} bytes`, {
    status: 413,
    reason: "PAYLOAD_TOO_LARGE",
    metadata: { bytesMax: `${bytesMax}` },
  });
}
