import type { TranscriptDraftJson } from "../../../../gen/hlust/transcripts/v1alpha1/draft_pb.ts";
import { ApiError } from "../../../api/api-error.ts";
import { callApi } from "../../../api/call-api.ts";
import { type KeptDrafts, readKeptDrafts } from "./kept-drafts.ts";

/** The drafts that the service keeps, so that another browser finds them. */
export interface ServiceDrafts {
  /** Undefined if they are damaged. */
  readonly kept: KeptDrafts | undefined;
  readonly etag: string;
}

const pathOf = (name: string): string => `/v1alpha1/${name}/draft`;

/**
 * Reads the drafts of a user; undefined if there are none. `owner` is the user (identityOf): in
 * these calls the service refuses anyone who has signed in since. Throws ApiError, and the reason
 * of the signal if it is aborted.
 */
export async function readServiceDrafts(
  name: string,
  owner: string,
  signal?: AbortSignal,
): Promise<ServiceDrafts | undefined> {
  // Browsers log an answer 404 as an error.
  const path = `${pathOf(name)}?allowMissing=true`;
  const call = { ...(signal && { signal }), owner };
  const { content = "", etag = "" } = await callApi<TranscriptDraftJson>(path, call);
  if (etag === "") return undefined;
  try {
    return { kept: readKeptDrafts(JSON.parse(await unpacked(content))), etag };
  } catch {
    return { kept: undefined, etag };
  }
}

/**
 * Saves drafts on the service, instead of those with this etag, or of none. Returns the new etag.
 * Throws ApiError: its reason is DRAFT_CHANGED if another browser has saved others.
 */
export async function saveServiceDrafts(
  name: string,
  {
    kept,
    baseVersion,
    etag,
    owner,
  }: {
    readonly kept: KeptDrafts;
    readonly baseVersion: string;
    readonly etag: string | undefined;
    readonly owner: string;
  },
): Promise<string> {
  const saved = await callApi<TranscriptDraftJson>(pathOf(name), {
    method: "PUT",
    body: { baseVersion, content: await packed(JSON.stringify(kept)) },
    headers: etag === undefined ? { "if-none-match": "*" } : { "if-match": etag },
    owner,
  });
  return saved.etag ?? "";
}

/**
 * Deletes the user's drafts on the service, if it still has those with this etag. Throws ApiError:
 * its reason is DRAFT_CHANGED if another browser has saved others.
 */
export async function dropServiceDrafts(
  name: string,
  { etag, owner }: { readonly etag: string; readonly owner: string },
): Promise<void> {
  try {
    await callApi(pathOf(name), { method: "DELETE", headers: { "if-match": etag }, owner });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Compresses a text, and returns it in base64. */
async function packed(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 32_768) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  }
  return btoa(binary);
}

async function unpacked(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).text();
}
