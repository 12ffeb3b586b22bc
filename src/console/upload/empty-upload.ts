import { callApi } from "../api/call-api.ts";
import type { InitUploadResponseJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** An upload that gets no bytes, by which the size of files is checked before they are sent. */
export interface EmptyUpload {
  /** The maximum size of a file, if the service states one. */
  readonly bytesMax: number | undefined;
}

/** Creates an upload without bytes (§4.7). Throws ApiError. */
export async function initEmptyUpload(signal: AbortSignal): Promise<EmptyUpload> {
  const { storageSignedUrl = "" } = await callApi<InitUploadResponseJson>("/v1alpha1/initupload", {
    method: "POST",
    body: {},
    signal,
  });
  const bytesMax = Number(new URL(storageSignedUrl).searchParams.get("bytesMax"));
  return { bytesMax: bytesMax > 0 ? bytesMax : undefined };
}
