import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorOfConnection, errorOfResponse } from "../client/read-error.ts";
import type { Profile } from "./profiles.ts";

/** The size of a request, which is what is sent again after an interruption. */
const pieceBytes = 4 << 20;
/** How often in a row an interrupted upload is continued, and the pause before it. */
const [attemptsMax, pauseMs] = [6, 1_000];

export interface UploadOptions {
  readonly signal: AbortSignal;
  /** Receives the number of bytes that the service has, and of all. */
  readonly onProgress: (sent: number, total: number) => void;
}

/**
 * Uploads a file by the resumable protocol (tus), and continues it after interruptions. Returns the
 * name of the upload, which a job takes as its uri. Throws ConnectError, and the error of a file
 * that cannot be read.
 */
export async function uploadFile(
  { url, token }: Profile,
  file: string,
  { signal, onProgress }: UploadOptions,
): Promise<string> {
  const media = await openAsBlob(file);
  if (media.size === 0) throw new Error(`${file} is empty`);
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      authorization: `Bearer ${token}`,
      "tus-resumable": "1.0.0",
    };
    let response;
    try {
      response = await fetch(`${url}${path}`, { ...init, headers, signal });
    } catch (error) {
      throw errorOfConnection(error, "the service cannot be reached");
    }
    if (!response.ok) throw await errorOfResponse(response);
    return response;
  };
  const filename = Buffer.from(basename(file)).toString("base64");
  const created = await send("/v1alpha1/uploads", {
    method: "POST",
    headers: { "upload-length": `${media.size}`, "upload-metadata": `filename ${filename}` },
  });
  const id = (created.headers.get("location") ?? "").split("/").at(-1) ?? "";
  const path = `/v1alpha1/uploads/${id}`;
  let [offset, attempt] = [0, 0];
  while (offset < media.size) {
    onProgress(offset, media.size);
    const piece = media.slice(offset, offset + pieceBytes);
    const headers = {
      "content-type": "application/offset+octet-stream",
      "upload-offset": `${offset}`,
    };
    try {
      offset = offsetOf(await send(path, { method: "PATCH", headers, body: piece }));
      attempt = 0;
    } catch (error) {
      attempt += 1;
      const isLost = error instanceof ConnectError && error.code === Code.Unavailable;
      if (!isLost || attempt > attemptsMax) throw error;
      await sleep(attempt * pauseMs, undefined, { signal });
      offset = await send(path, { method: "HEAD" }).then(offsetOf, () => offset);
    }
  }
  onProgress(media.size, media.size);
  return `uploads/${id}`;
}

function offsetOf(response: Response): number {
  const offset = Number(response.headers.get("upload-offset"));
  if (!Number.isSafeInteger(offset)) throw new ConnectError("no Upload-Offset", Code.Internal);
  return offset;
}
