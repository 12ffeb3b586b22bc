import { ApiError } from "../../../api/api-error.ts";
import { openDrafts } from "../../../api/open-drafts.ts";
import { knownDrafts } from "../kept-sessions.ts";
import { readDraft } from "../model/draft.ts";
import { draftNamesHere, readDraftsHere } from "./draft-database.ts";
import { dropServiceDrafts, readServiceDrafts, saveServiceDrafts } from "./draft-service.ts";
import { includes, mergedDrafts } from "./kept-drafts.ts";

/**
 * Makes sure that the service has all drafts that a user has in this browser, and keeps those of
 * other browsers. `owner` is the user (identityOf). Throws ApiError if it does not accept one.
 */
export async function keepLeftDrafts(owner: string): Promise<void> {
  const open = openDrafts(owner);
  await Promise.all(open.map(async (draft) => await draft.flush()));
  const names = await draftNamesHere(owner);
  for (const name of names) await keepOnService(owner, name);
  // A browser that stores nothing has drafts in its open pages only.
  const lost = open.find(({ name, isOnService }) => !isOnService && !names.includes(name));
  if (lost) throw new ApiError("the draft is not stored", { status: 0, reason: "OFFLINE" });
}

async function keepOnService(owner: string, name: string): Promise<void> {
  const here = await readDraftsHere(`${owner} ${name}`);
  if (!here) return;
  const there = await readServiceDrafts(name, owner);
  if (there?.kept && includes(there.kept, here)) return;
  const kept = there?.kept ? mergedDrafts(here, there.kept) : here;
  const draft = kept.current ?? kept.others[0];
  if (!draft) return;
  const { version: baseVersion } = readDraft(draft.draft);
  await saveServiceDrafts(name, { kept, baseVersion, etag: there?.etag, owner });
}

/**
 * Deletes the drafts of texts on the service, except those of other browsers. Those of this browser
 * go when the user signs out.
 */
export async function dropLeftDrafts(owner: string, names: readonly string[]): Promise<void> {
  for (const name of names) await dropOnService(owner, name);
}

async function dropOnService(owner: string, name: string): Promise<void> {
  const key = `${owner} ${name}`;
  const here = await readDraftsHere(key);
  try {
    const there = await readServiceDrafts(name, owner);
    const isKnown = there?.kept && here && includes(here, there.kept);
    const isOwn = isKnown === true || there?.etag === knownDrafts(key).etag;
    if (there && isOwn) await dropServiceDrafts(name, { etag: there.etag, owner });
  } catch (error) {
    // The user leaves in any case.
    if (!(error instanceof ApiError)) throw error;
  }
}
