import type { Client } from "@connectrpc/connect";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { errorOfConnection, errorOfResponse } from "./read-error.ts";

/**
 * Uploads media (§4.7) to the transcript `resourceName`, or if that is missing to a new
 * uploads/<id>, which a job accepts as its uri. `filename`: by default that of a File. Returns the
 * name of the resource. Resolves when the service has
 * stored the bytes. A file is a Blob: in Node from fs.openAsBlob(). Throws ConnectError.
 */
export async function uploadMedia(
  transcripts: Client<typeof Transcripts>,
  media: Blob | Uint8Array<ArrayBuffer>,
  options: {
    readonly resourceName?: string;
    readonly filename?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<string> {
  const { resourceName = "", filename = nameOf(media), signal } = options;
  const call = signal ? { signal } : {};
  const upload = await transcripts.initUpload({ resourceName, filename }, call);
  let response;
  try {
    response = await fetch(upload.storageSignedUrl, { method: "PUT", body: media, ...call });
  } catch (error) {
    throw errorOfConnection(error, "the upload was interrupted");
  }
  if (!response.ok) throw await errorOfResponse(response);
  return upload.resourceName;
}

/** The name of a File; "" for other media. */
function nameOf(media: Blob | Uint8Array<ArrayBuffer>): string {
  return media instanceof File ? media.name : "";
}
