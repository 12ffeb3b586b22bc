import { ApiError, errorOfBody, offlineError } from "../api/api-error.ts";

/**
 * A connection that takes nothing for as long is dead, whatever the browser believes. The service
 * waits as long itself.
 */
const stillMsMax = 60_000;

/**
 * Sends a file by one PUT and tells how many of its bytes are gone (XMLHttpRequest: fetch does not
 * tell). Resolves when the service has all of them on its disk; rejects with ApiError, or with the
 * signal's reason. Half a file is never kept (docs/api.md, Uploads).
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
  let stillTimer: number | undefined;
  const fail = (error: unknown): void => {
    reject(error);
    request.abort();
  };
  const stop = (): void => fail(signal.reason);
  // Browsers say so long before they give the connection up.
  const goOffline = (): void => fail(offlineError());
  const watchStill = (): void => {
    clearTimeout(stillTimer);
    stillTimer = window.setTimeout(goOffline, stillMsMax);
  };
  request.upload.addEventListener("progress", ({ loaded }) => {
    watchStill();
    onSent(loaded);
  });
  // From here on it is the service that works: it may have gigabytes to make sure of.
  request.upload.addEventListener("load", () => clearTimeout(stillTimer));
  request.addEventListener("error", () => void brokenBy(file).then(reject));
  request.addEventListener("load", () => {
    if (request.status >= 200 && request.status < 300) resolve();
    else reject(answeredError(request));
  });
  signal.addEventListener("abort", stop, { once: true });
  addEventListener("offline", goOffline);
  request.open("PUT", url);
  watchStill();
  // Without its type, which is not signed: the service looks at the bytes.
  request.send(file.slice());
  return promise.finally(() => {
    clearTimeout(stillTimer);
    signal.removeEventListener("abort", stop);
    removeEventListener("offline", goOffline);
  });
}

/**
 * Why nothing came of it: the connection, or a file that has changed on the device since it was
 * chosen, which browsers tell nobody.
 */
async function brokenBy(file: Blob): Promise<ApiError> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return offlineError();
  } catch {
    return new ApiError("the file cannot be read any longer", {
      status: 400,
      reason: "FILE_CHANGED",
    });
  }
}

function answeredError({ status, responseText }: XMLHttpRequest): ApiError {
  return errorOfBody(status, responseText);
}
