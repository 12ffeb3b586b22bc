import { callApi } from "../api/call-api.ts";
import type {
  InitUploadRequestJson,
  InitUploadResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** The destination of the PUT of one file (§4.7). */
export interface UploadPlace {
  /** `uploads/<id>`, or the name of the transcript that the media is for. */
  readonly name: string;
  /** The URL that accepts the PUT. It belongs to the service itself or to its bucket. */
  readonly url: string;
  /** The maximum size of the file, if the URL contains one. */
  readonly bytesMax: number | undefined;
  /** The time after which this page no longer relies on the URL, in ms of Date.now(). */
  readonly staleAt: number;
}

/** What an upload is for. */
export interface UploadFor {
  /** The transcript that the media is for. Default: none, the media is for a job. */
  readonly transcript?: string;
  readonly owner?: string;
  /** The name of the file. Default: unknown. */
  readonly filename?: string;
}

/** §4.7: a URL is valid for an hour. The margin allows for a browser whose clock is wrong. */
const placeMs = 50 * 60_000;

/** Creates an upload: for a job, or for the media of `transcript`. Throws ApiError. */
export async function initUpload(
  signal: AbortSignal,
  { transcript, owner, filename }: UploadFor = {},
): Promise<UploadPlace> {
  const body: InitUploadRequestJson = {
    ...(transcript !== undefined && { resourceName: transcript }),
    ...(filename !== undefined && { filename }),
  };
  const requestedAt = Date.now();
  const { storageSignedUrl = "", resourceName = "" } = await callApi<InitUploadResponseJson>(
    "/v1alpha1/initupload",
    { method: "POST", body, signal, ...(owner !== undefined && { owner }) },
  );
  const { pathname, search, searchParams } = new URL(storageSignedUrl);
  const bytesMax = Number(searchParams.get("bytesMax"));
  return {
    name: resourceName,
    // The service may have several host names, and a page uses the host name from which it was
    // loaded. The signature does not cover the host.
    url: pathname.startsWith("/media/uploads/") ? pathname + search : storageSignedUrl,
    bytesMax: bytesMax > 0 ? bytesMax : undefined,
    staleAt: requestedAt + placeMs,
  };
}
