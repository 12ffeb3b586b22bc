import { ApiError, errorOfBody, offlineError } from "../api/api-error.ts";
import { consoleHeaders, noteFailure, sendApi } from "../api/call-api.ts";

/** An upload that continues where it was interrupted: tus 1.0.0 (docs/api.md, Uploads). */
export interface UploadPlace {
  /** `uploads/<id>`. */
  readonly name: string;
  /** The user who sends the media (identityOf); undefined: the user whose pages are shown. */
  readonly owner: string | undefined;
}

/** What an upload is for. */
export interface UploadFor {
  /** The transcript that the media is for. Default: none, the media is for a job. */
  readonly transcript?: string;
  readonly owner?: string;
  /** The name of the file. Default: unknown. */
  readonly filename?: string;
}

const uploadsPath = "/v1alpha1/uploads";
const tusHeaders = { "tus-resumable": "1.0.0" };
const partHeaders = { ...tusHeaders, "content-type": "application/offset+octet-stream" };
/**
 * A request sends at most this many bytes. Some proxies pass a request on only when it is complete,
 * and some refuse long ones.
 */
const partBytesMax = 16 * 2 ** 20;
/** A request without progress for this long has stalled. The service's own limit is the same. */
const stallMsMax = 60_000;

/** Creates an upload: for a job, or for the media of `transcript`. Throws ApiError. */
export async function beginUpload(
  signal: AbortSignal,
  sizeBytes: number,
  { transcript, owner, filename }: UploadFor = {},
): Promise<UploadPlace> {
  const values = [
    ...(transcript === undefined ? [] : [`resourceName ${base64(transcript)}`]),
    ...(filename === undefined ? [] : [`filename ${base64(filename)}`]),
  ];
  const { headers } = await sendApi(uploadsPath, {
    method: "POST",
    signal,
    ...(owner !== undefined && { owner }),
    headers: {
      ...tusHeaders,
      "upload-length": `${sizeBytes}`,
      ...(values.length > 0 && { "upload-metadata": values.join(",") }),
    },
  });
  const id = headers.get("location")?.split("/").at(-1) ?? "";
  return { name: `uploads/${id}`, owner };
}

/**
 * Returns the number of bytes that the service has. Sends a part without bytes rather than HEAD,
 * whose errors have no reason. `sentBytes` is what the page knows. Throws ApiError.
 */
export async function receivedBytes(
  { name, owner }: UploadPlace,
  sentBytes: number,
  signal: AbortSignal,
): Promise<number> {
  try {
    const { headers } = await sendApi(`/v1alpha1/${name}`, {
      method: "PATCH",
      headers: { ...partHeaders, "upload-offset": `${sentBytes}` },
      signal,
      ...(owner !== undefined && { owner }),
    });
    return offsetIn(headers.get("upload-offset"));
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "OFFSET_MISMATCH") throw error;
    return offsetIn(error.metadata["receivedBytes"]);
  }
}

/** Deletes an upload and its bytes. Throws ApiError. */
export async function endUpload({ name, owner }: UploadPlace): Promise<void> {
  const options = { method: "DELETE", headers: tusHeaders } as const;
  await sendApi(`/v1alpha1/${name}`, { ...options, ...(owner !== undefined && { owner }) });
}

/**
 * Sends the next part of a file, and reports how many bytes of the file have been sent. It uses
 * XMLHttpRequest, because fetch() cannot report progress. Resolves to the number of bytes that the
 * service has stored; rejects with ApiError, or with the signal's reason.
 */
export function sendPart(
  { name, owner }: UploadPlace,
  file: Blob,
  {
    offset,
    signal,
    onSent,
  }: {
    readonly offset: number;
    readonly signal: AbortSignal;
    readonly onSent: (sentBytes: number) => void;
  },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = new XMLHttpRequest();
  let stallTimer: number | undefined;
  const fail = (error: unknown): void => {
    reject(error);
    request.abort();
  };
  const stop = (): void => fail(signal.reason);
  // Browsers report a lost network long before they close the connection.
  const goOffline = (): void => fail(offlineError());
  const watchForStall = (): void => {
    clearTimeout(stallTimer);
    stallTimer = window.setTimeout(goOffline, stallMsMax);
  };
  request.upload.addEventListener("progress", ({ loaded }) => {
    watchForStall();
    onSent(offset + loaded);
  });
  // From now on there is no time limit: the service may have to flush gigabytes to disk.
  request.upload.addEventListener("load", () => clearTimeout(stallTimer));
  request.addEventListener("error", () => void failureOf(file).then(reject));
  request.addEventListener("load", () => {
    const { status, responseText } = request;
    if (status === 204) resolve(offsetIn(request.getResponseHeader("upload-offset")));
    else reject(noteFailure(errorOfBody(status, responseText)));
  });
  signal.addEventListener("abort", stop, { once: true });
  addEventListener("offline", goOffline);
  request.open("PATCH", `/console/api/v1alpha1/${name}`);
  const headers = { ...consoleHeaders(owner), ...partHeaders, "upload-offset": `${offset}` };
  for (const [key, value] of Object.entries(headers)) request.setRequestHeader(key, value);
  watchForStall();
  request.send(file.slice(offset, offset + partBytesMax));
  return promise.finally(() => {
    clearTimeout(stallTimer);
    signal.removeEventListener("abort", stop);
    removeEventListener("offline", goOffline);
  });
}

/**
 * Determines why a part was not sent: because of the connection, or because the file was changed on
 * the device after it was chosen, which browsers do not report.
 */
async function failureOf(file: Blob): Promise<ApiError> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return offlineError();
  } catch {
    return new ApiError("the file can no longer be read", {
      status: 400,
      reason: "FILE_CHANGED",
    });
  }
}

/** Reads Upload-Offset. Without it, something between the page and the service has responded. */
function offsetIn(value: string | null | undefined): number {
  const offset = Number.parseInt(value ?? "", 10);
  if (Number.isNaN(offset)) throw offlineError();
  return offset;
}

/** Encodes a text as UTF-8 and Base64, for Upload-Metadata. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
