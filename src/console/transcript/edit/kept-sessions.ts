import type { EditSession } from "./edit-session.ts";
import type { ServiceDrafts } from "./saving/draft-service.ts";
import type { DraftHistory, KeptDraft } from "./saving/kept-drafts.ts";

/** A session with unsaved changes, and where it came from. */
export interface KeptSession {
  readonly session: EditSession;
  /** When a draft was last changed that was found again; undefined for other sessions. */
  readonly foundFrom?: Date | undefined;
}

const left = new Map<string, KeptSession>();
const known = new Map<string, KnownDrafts>();

/** What this page knows of the drafts of a text, apart from the text that it edits. */
export interface KnownDrafts {
  /** When the text was last changed, in milliseconds since 1970; 0 if it has no draft. */
  changedAt: number;
  /** The drafts that wait until the user decides. */
  others: readonly KeptDraft[];
  history: DraftHistory;
  /** The etag of the drafts on the service; undefined if there are none, or not known. */
  etag: string | undefined;
  /** Whether the service has answered which drafts it has. */
  isRead: boolean;
  /** Whether the service lacks changes that this browser has kept. */
  isBehind: boolean;
  /** What another browser has saved on the service meanwhile, which is left as it is. */
  elsewhere: ServiceDrafts | undefined;
}

/**
 * Keeps a session with unsaved changes while the user is on another page of the console. `key` is
 * the user with the transcript's name.
 */
export function keepSession(key: string, kept: KeptSession | undefined): void {
  if (kept) left.set(key, kept);
  else left.delete(key);
}

/** Returns the session that was kept; undefined if there is none. */
export function keptSession(key: string): KeptSession | undefined {
  return left.get(key);
}

/** Sets what this page knows of the drafts of a text. `key` is as for keepSession(). */
export function setKnownDrafts(key: string, drafts: Partial<KnownDrafts>): KnownDrafts {
  const all = {
    changedAt: 0,
    others: [],
    history: {},
    etag: undefined,
    isRead: false,
    isBehind: false,
    elsewhere: undefined,
    ...drafts,
  };
  known.set(key, all);
  return all;
}

/** Returns what this page knows of the drafts of a text. Its users share and change it. */
export function knownDrafts(key: string): KnownDrafts {
  return known.get(key) ?? setKnownDrafts(key, {});
}
