import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callApi } from "../../../api/call-api.ts";
import { spokenText } from "../../spoken-text.ts";
import { newSession, type EditSession } from "../edit-session.ts";
import { keepEtag, keepSession, keptSession } from "../kept-sessions.ts";
import { DraftError, readDraft, restoredDraft } from "../model/draft.ts";
import { dropDraftHere, type KeptDraft, readDraftHere } from "./draft-database.ts";
import { readServiceDraft } from "./draft-service.ts";

/**
 * Finds the later one of the drafts that this browser and the service keep of a transcript, and
 * keeps it as the session to continue. `owner` is the user (identityOf). Drafts that cannot be read
 * are ignored; damaged ones of this browser are deleted.
 */
export async function findDraft(
  owner: string,
  name: string,
  current: TranscriptJson,
): Promise<void> {
  const key = `${owner} ${name}`;
  if (keptSession(key)) return;
  const [here, service] = await Promise.all([readDraftHere(key), readServiceDraft(name, owner)]);
  keepEtag(key, service?.etag);
  const kept = later(here, service?.kept);
  const found = kept && (await sessionOf(kept, { key, name, current }));
  if (found) keepSession(key, { session: found, foundFrom: new Date(kept.changedAt) });
}

async function sessionOf(
  kept: KeptDraft,
  { key, name, current }: { key: string; name: string; current: TranscriptJson },
): Promise<EditSession | undefined> {
  try {
    const draft = readDraft(kept.draft);
    const opened = await versionOf(name, current, draft.version);
    const session = newSession(opened, spokenText(opened.segments ?? []));
    const { paragraphs, retimings } = restoredDraft(draft, session.base);
    const { speakers, savedVersion } = kept;
    const saved = { ...session.saved, version: savedVersion, segments: undefined, paragraphs: [] };
    return { ...session, paragraphs, speakers, retimings, saved };
  } catch (error) {
    if (error instanceof DraftError && error.reason === "damaged") await dropDraftHere(key);
    return undefined;
  }
}

function later(one: KeptDraft | undefined, other: KeptDraft | undefined): KeptDraft | undefined {
  if (!one || !other) return one ?? other;
  return other.changedAt > one.changedAt ? other : one;
}

/** Returns the version that a draft changes, with its segments. */
async function versionOf(
  name: string,
  current: TranscriptJson,
  version: string,
): Promise<TranscriptJson> {
  if (current.version?.name === version) return current;
  return await callApi<TranscriptJson>(`/v1alpha1/${name}/versions/${encodeURIComponent(version)}`);
}
