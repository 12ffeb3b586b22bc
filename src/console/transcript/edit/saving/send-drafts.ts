import { ApiError } from "../../../api/api-error.ts";
import type { KnownDrafts } from "../kept-sessions.ts";
import { readDraft } from "../model/draft.ts";
import { dropServiceDrafts, readServiceDrafts, saveServiceDrafts } from "./draft-service.ts";
import { includes, isEmpty, type KeptDraft, type KeptDrafts, withOthers } from "./kept-drafts.ts";

interface Sending {
  readonly name: string;
  /** The user (identityOf). */
  readonly owner: string;
  readonly drafts: KeptDrafts;
  /** The id of the version that the current draft changes. */
  readonly version: string;
  readonly known: KnownDrafts;
}

/**
 * Makes the service keep drafts, or none if they are empty. What another browser has saved there
 * is only replaced if it is part of them: otherwise `known.elsewhere` has it afterwards. Throws
 * ApiError.
 */
export async function sendDrafts({ known, ...sent }: Sending): Promise<void> {
  if (known.elsewhere) return;
  const { name, owner } = sent;
  let { drafts } = sent;
  // Another browser may save its draft at any time.
  for (let attempts = 1; ; attempts += 1) {
    try {
      if (await sendOnce({ ...sent, drafts, known })) return;
    } catch (error) {
      if (!isChangedElsewhere(error) || attempts === attemptsMax) throw error;
    }
    const there = await readServiceDrafts(name, owner);
    known.isRead = true;
    if (there?.kept?.current && !includes(drafts, there.kept)) {
      known.elsewhere = there;
      return;
    }
    known.etag = there?.etag;
    if (there?.kept && !includes(drafts, there.kept)) {
      drafts = withOthers(drafts, there.kept);
      const { others, history } = withOthers({ ...known, current: undefined }, there.kept);
      Object.assign(known, { others, history });
    }
  }
}

const attemptsMax = 3;

/** Whether another browser has saved drafts, or deleted them, since they were read. */
export function isChangedElsewhere(error: unknown): boolean {
  return error instanceof ApiError && error.reason === "DRAFT_CHANGED";
}

/** Returns false if there is nothing to keep, but it is not known what the service keeps. */
async function sendOnce({ name, owner, drafts, known, version }: Sending): Promise<boolean> {
  const { etag } = known;
  if (isEmpty(drafts)) {
    if (etag === undefined) return known.isRead;
    await dropServiceDrafts(name, { etag, owner });
    known.etag = undefined;
    return true;
  }
  const baseVersion = drafts.current ? version : versionOf(drafts.others[0]);
  known.etag = await saveServiceDrafts(name, { kept: drafts, baseVersion, etag, owner });
  known.isBehind = false;
  return true;
}

function versionOf(draft: KeptDraft | undefined): string {
  return draft ? readDraft(draft.draft).version : "";
}
