import type { TranscriptJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../../api/api-error.ts";
import { callApi } from "../../../api/call-api.ts";
import { spokenText } from "../../spoken-text.ts";
import { newSession, type EditSession } from "../edit-session.ts";
import { keepSession, keptSession, setKnownDrafts } from "../kept-sessions.ts";
import { DraftError, readDraft, restoredDraft } from "../model/draft.ts";
import { readDraftsHere } from "./draft-database.ts";
import { readServiceDrafts, type ServiceDrafts } from "./draft-service.ts";
import { includes, type KeptDraft, type KeptDrafts, mergedDrafts } from "./kept-drafts.ts";

/** How long the service's drafts are waited for, before the text opens without them. */
const waitMs = 1_500;

/** A draft that cannot be opened for now. */
export interface UnopenedDraft {
  readonly changedAt: Date;
  readonly error: ApiError;
}

/**
 * Finds the drafts that this browser and the service keep of a transcript, and keeps the current
 * one as the session to continue. If there are two that were written apart, the later one is
 * current, and the other one waits. `owner` is the user (identityOf). Returns the draft if the
 * version that it changes cannot be read for now; then nothing may be edited over it. Drafts that
 * can never be read wait too, except damaged ones.
 */
export async function findDraft(
  owner: string,
  name: string,
  current: TranscriptJson,
): Promise<UnopenedDraft | undefined> {
  const key = `${owner} ${name}`;
  if (keptSession(key)) return undefined;
  const [here, service] = await Promise.all([readDraftsHere(key), readInTime(name, owner)]);
  const there = service === "late" ? undefined : service;
  const drafts = merged(here, there?.kept) ?? { current: undefined, others: [], history: {} };
  const known = {
    others: drafts.others,
    history: drafts.history,
    etag: there?.etag,
    isRead: service !== "late",
    isBehind: here !== undefined && !(there?.kept && includes(there.kept, here)),
  };
  const kept = drafts.current;
  if (!kept) {
    setKnownDrafts(key, known);
    return undefined;
  }
  try {
    const session = await sessionOf(kept, name, current);
    setKnownDrafts(key, { ...known, changedAt: kept.changedAt });
    keepSession(key, { session, foundFrom: new Date(kept.changedAt) });
  } catch (error) {
    const changedAt = new Date(kept.changedAt);
    if (error instanceof ApiError && !isLost(error)) return { changedAt, error };
    const isDamaged = error instanceof DraftError && error.reason === "damaged";
    const others = isDamaged ? drafts.others : [...drafts.others, kept];
    setKnownDrafts(key, { ...known, others });
  }
  return undefined;
}

/** Reads the service's drafts. Without an answer in time, those of this browser are used. */
async function readInTime(
  name: string,
  owner: string,
): Promise<ServiceDrafts | undefined | "late"> {
  const signal = AbortSignal.timeout(waitMs);
  try {
    return await readServiceDrafts(name, owner, signal);
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) return "late";
    throw error;
  }
}

function merged(
  here: KeptDrafts | undefined,
  there: KeptDrafts | undefined,
): KeptDrafts | undefined {
  return here && there ? mergedDrafts(here, there) : (here ?? there);
}

/** Whether an error says that the version does not exist, so that another attempt is in vain. */
function isLost({ status }: ApiError): boolean {
  return status === 400 || status === 404;
}

/** Throws ApiError if the version cannot be read, and DraftError if the draft cannot. */
async function sessionOf(
  kept: KeptDraft,
  name: string,
  current: TranscriptJson,
): Promise<EditSession> {
  const draft = readDraft(kept.draft);
  const opened = await versionOf(name, current, draft.version);
  const session = newSession(opened, spokenText(opened.segments ?? []));
  const { paragraphs, retimings } = restoredDraft(draft, session.base);
  const { speakers, savedVersion } = kept;
  const saved = { ...session.saved, version: savedVersion, segments: undefined, paragraphs: [] };
  return { ...session, paragraphs, speakers, retimings, saved };
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
