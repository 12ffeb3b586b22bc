import { ApiError, errorOfBody, offlineError } from "../api/api-error.ts";

/** An upload without progress for this long has stalled. The service's own limit is the same. */
const stallMsMax = 60_000;

/**
 * Sends a file with one PUT and reports how many bytes have been sent. It uses XMLHttpRequest,
 * because fetch() cannot report progress. Resolves when the service has the whole file on disk;
 * rejects with ApiError, or with the signal's reason. The service never keeps a part of a file
 * (docs/api.md, Uploads).
 */
export function putFile(
  url: string,
  file: Blob,
  {
    signal,
    onSent,
  }: { readonly signal: AbortSignal; readonly onSent: (sentBytes: number) => void },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
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
    onSent(loaded);
  });
  // From now on there is no time limit: the service may have to flush gigabytes to disk.
  request.upload.addEventListener("load", () => clearTimeout(stallTimer));
  request.addEventListener("error", () => void failureOf(file).then(reject));
  request.addEventListener("load", () => {
    if (request.status >= 200 && request.status < 300) resolve();
    else reject(answeredError(request));
  });
  signal.addEventListener("abort", stop, { once: true });
  addEventListener("offline", goOffline);
  request.open("PUT", url);
  watchForStall();
  // slice() drops the media type, which is not signed: the service checks the bytes.
  request.send(file.slice());
  return promise.finally(() => {
    clearTimeout(stallTimer);
    signal.removeEventListener("abort", stop);
    removeEventListener("offline", goOffline);
  });
}

/**
 * Determines why an upload failed: because of the connection, or because the file was changed on
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

function answeredError({ status, responseText }: XMLHttpRequest): ApiError {
  return errorOfBody(status, responseText);
}
