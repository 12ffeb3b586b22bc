import { openDrafts } from "../api/open-drafts.ts";
import { unsavedIds } from "../api/unsaved-work.ts";
import { storedRecordings } from "../live/recording-store.ts";
import { draftNamesHere } from "../transcript/edit/saving/draft-database.ts";

/** What a user has not saved. */
export interface Unsaved {
  /** The names of the transcripts with unsaved texts. */
  readonly drafts: readonly string[];
  /** The number of live recordings, in any tab. */
  readonly recordings: number;
  /** The number of files that are not jobs yet, in any tab. */
  readonly uploads: number;
}

/** Returns what signing out would end, or undefined if there is nothing. */
export async function findUnsaved(owner: string): Promise<Unsaved | undefined> {
  const edited = openDrafts(owner).map(({ name }) => name);
  const drafts = [...new Set([...edited, ...(await draftNamesHere(owner))])];
  const stored = await storedRecordings(owner).catch(() => []);
  const open = await unsavedIds(owner, "recording");
  const recordings = new Set([...stored.map(({ id }) => id), ...open]).size;
  const uploads = (await unsavedIds(owner, "upload")).length;
  const isAny = drafts.length + recordings + uploads > 0;
  return isAny ? { drafts, recordings, uploads } : undefined;
}
