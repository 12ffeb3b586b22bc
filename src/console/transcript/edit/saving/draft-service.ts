import type { TranscriptDraftJson } from "../../../../gen/hlust/transcripts/v1alpha1/draft_pb.ts";
import { ApiError } from "../../../api/api-error.ts";
import { callApi } from "../../../api/call-api.ts";
import type { KeptDraft } from "./draft-database.ts";

/** A draft that the service keeps, so that another browser finds it. */
export interface ServiceDraft {
  readonly kept: KeptDraft;
  readonly etag: string;
}

const pathOf = (name: string): string => `/v1alpha1/${name}/draft`;

/** How long the service's draft is waited for, before the text opens without it. */
const waitMs = 1_500;

/**
 * Reads the draft of a user; undefined if there is none that can be read. `owner` is the user
 * (identityOf): in these calls the service refuses anyone who has signed in since.
 */
export async function readServiceDraft(
  name: string,
  owner: string,
): Promise<ServiceDraft | undefined> {
  try {
    const { content = "", etag = "" } = await callApi<TranscriptDraftJson>(pathOf(name), {
      signal: AbortSignal.timeout(waitMs),
      owner,
    });
    const kept = readKept(await unpacked(content));
    return kept && { kept, etag };
  } catch (error) {
    // Without the service the draft of this browser is used.
    if (error instanceof ApiError || isOurs(error)) return undefined;
    throw error;
  }
}

/** Whether an error says that the draft came too late or is damaged. */
function isOurs(error: unknown): boolean {
  const names = ["TimeoutError", "AbortError", "TypeError", "SyntaxError", "InvalidCharacterError"];
  return error instanceof Error && names.includes(error.name);
}

/**
 * Saves a draft on the service, instead of the one with this etag, or of none. Returns the new
 * etag. Throws ApiError: its reason is DRAFT_CHANGED if another browser has saved one.
 */
export async function saveServiceDraft(
  name: string,
  {
    kept,
    baseVersion,
    etag,
    owner,
  }: {
    readonly kept: KeptDraft;
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

/** Deletes the user's draft on the service, if there is one. */
export async function dropServiceDraft(name: string, owner: string): Promise<void> {
  try {
    await callApi(pathOf(name), { method: "DELETE", owner });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function readKept(json: string): KeptDraft | undefined {
  const { draft, speakers, savedVersion, changedAt }: Partial<KeptDraft> = JSON.parse(json);
  const isWhole =
    typeof draft === "string" &&
    typeof savedVersion === "string" &&
    typeof changedAt === "number" &&
    typeof speakers === "object";
  return isWhole ? { draft, speakers, savedVersion, changedAt } : undefined;
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
