import { ApiError } from "../api/api-error.ts";
import { Pause } from "./pause.ts";
import {
  beginUpload,
  endUpload,
  receivedBytes,
  sendPart,
  type UploadPlace,
} from "./resumable-upload.ts";
import { waitOut } from "./wait-out.ts";

/** The progress of an upload. */
export interface Transfer {
  readonly sentBytes: number;
  /**
   * The temporary error that delays the upload, such as OFFLINE. The upload then continues
   * automatically, after the bytes that the service has.
   */
  readonly waitsFor: ApiError | undefined;
}

/**
 * Uploads a file in parts and returns `uploads/<id>`, for a job. Rejects in the same cases as
 * waitOut(). An upload that the user ends is deleted.
 *
 * `place` is where an earlier page began to send the file. `begin` creates the upload, and creates
 * another one when the service no longer has the first.
 * `pause`: its end() starts the next attempt immediately.
 */
export async function uploadFile(
  file: Blob,
  options: {
    readonly signal: AbortSignal;
    readonly onChange: (transfer: Transfer) => void;
    readonly place?: UploadPlace | undefined;
    readonly begin?: (signal: AbortSignal) => Promise<UploadPlace>;
    readonly pause?: Pause;
  },
): Promise<string> {
  const { signal, onChange, pause = new Pause() } = options;
  const { begin = (signal) => beginUpload(signal, file.size) } = options;
  let place = options.place;
  let stored = 0;
  const onSent = (sentBytes: number): void => onChange({ sentBytes, waitsFor: undefined });
  const onWait = (waitsFor: ApiError): void => onChange({ sentBytes: stored, waitsFor });
  const send = async (): Promise<string> => {
    const found = place ? await find(place, stored, signal) : undefined;
    stored = found ?? 0;
    if (found === undefined) place = await begin(signal);
    const current = place;
    if (!current) throw new Error("an upload has begun without a place");
    onSent(stored);
    while (stored < file.size) {
      stored = await sendPart(current, file, { offset: stored, signal, onSent });
    }
    return current.name;
  };
  try {
    return await waitOut(send, { signal, pause, onWait, progress: () => stored });
  } catch (error) {
    // The bytes count against the storage limit of the account until they are deleted.
    if (place && signal.aborted) endUpload(place).catch(() => {});
    throw error;
  }
}

/** Returns the number of stored bytes; undefined if the service no longer has the upload. */
async function find(
  place: UploadPlace,
  sentBytes: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    return await receivedBytes(place, sentBytes, signal);
  } catch (error) {
    // An earlier page may have submitted the job of this upload.
    const isGone =
      error instanceof ApiError &&
      (error.status === 404 || error.status === 410 || error.reason === "UPLOAD_USED");
    if (isGone) return undefined;
    throw error;
  }
}
