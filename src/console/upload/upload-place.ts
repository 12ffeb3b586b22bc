import { callApi } from "../api/call-api.ts";
import type {
  InitUploadRequestJson,
  InitUploadResponseJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** A place for one PUT of media (§4.7). */
export interface UploadPlace {
  /** `uploads/<id>`, or the transcript that gets the media. */
  readonly name: string;
  /** Takes the PUT: of the service itself, or of its bucket. */
  readonly url: string;
  /** Longest file that it takes, where it says so. */
  readonly bytesMax: number | undefined;
  /** When this page stops to count on it, in ms of Date.now(). */
  readonly staleAt: number;
}

/**
 * §4.7: a URL works for an hour; the clock of this machine is not looked at by anybody, so it is
 * not taken to the end.
 */
const placeMs = 50 * 60_000;

/**
 * Asks for a place: of a recording that a job is to take, or of a transcript's media. Throws
 * ApiError.
 */
export async function initUpload(
  signal: AbortSignal,
  { transcript, owner }: { readonly transcript?: string; readonly owner?: string } = {},
): Promise<UploadPlace> {
  const body: InitUploadRequestJson = transcript === undefined ? {} : { resourceName: transcript };
  const askedAt = Date.now();
  const { storageSignedUrl = "", resourceName = "" } = await callApi<InitUploadResponseJson>(
    "/v1alpha1/initupload",
    { method: "POST", body, signal, ...(owner !== undefined && { owner }) },
  );
  const { pathname, search, searchParams } = new URL(storageSignedUrl);
  const bytesMax = Number(searchParams.get("bytesMax"));
  return {
    name: resourceName,
    // The service may be called by several names; its pages call it by the one that they came from.
    // What is signed has no host.
    url: pathname.startsWith("/media/uploads/") ? pathname + search : storageSignedUrl,
    bytesMax: bytesMax > 0 ? bytesMax : undefined,
    staleAt: askedAt + placeMs,
  };
}
