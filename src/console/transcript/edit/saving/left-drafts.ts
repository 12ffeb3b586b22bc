import { ApiError } from "../../../api/api-error.ts";
import { openDrafts } from "../../../api/open-drafts.ts";
import { readDraft } from "../model/draft.ts";
import { draftNamesHere, readDraftHere } from "./draft-database.ts";
import { dropServiceDraft, readServiceDraft, saveServiceDraft } from "./draft-service.ts";

/**
 * Makes sure that the service has all drafts that a user has in this browser. `owner` is the user
 * (identityOf). Throws ApiError if it does not accept one.
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
  const kept = await readDraftHere(`${owner} ${name}`);
  if (!kept) return;
  const there = await readServiceDraft(name, owner);
  if (there && there.kept.changedAt >= kept.changedAt) return;
  const { version: baseVersion } = readDraft(kept.draft);
  await saveServiceDraft(name, { kept, baseVersion, etag: there?.etag, owner });
}

/** Deletes the drafts of texts on the service. Those of this browser go when the user signs out. */
export async function dropLeftDrafts(owner: string, names: readonly string[]): Promise<void> {
  for (const name of names) await dropServiceDraft(name, owner);
}
