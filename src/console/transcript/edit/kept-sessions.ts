import type { EditSession } from "./edit-session.ts";

/** A session with unsaved changes, and where it came from. */
export interface KeptSession {
  readonly session: EditSession;
  /** When a draft was last changed that was found again; undefined for other sessions. */
  readonly foundFrom?: Date | undefined;
}

const left = new Map<string, KeptSession>();
const etags = new Map<string, string | undefined>();

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

/** Keeps the etag of the user's draft on the service; undefined if there is none. */
export function keepEtag(key: string, etag: string | undefined): void {
  etags.set(key, etag);
}

export function keptEtag(key: string): string | undefined {
  return etags.get(key);
}
