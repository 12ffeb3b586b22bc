import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  TranscriptDraftSchema,
  type SaveTranscriptDraftRequest,
  type TranscriptDraft,
} from "../gen/hlust/transcripts/v1alpha1/draft_pb.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkStoredBytes, holdStoredBytes } from "../media/stored-bytes.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { isId, newId } from "../std/ids.ts";
import { invalidArgument, ServiceError, shown, Violations } from "../std/service-error.ts";
import {
  deleteDraft,
  draftBytes,
  draftEtag,
  findDraft,
  lockDrafts,
  putDraft,
  type DraftOwner,
  type ExpectedDraft,
  type StoredDraft,
} from "./draft-store.ts";
import { entityTags } from "./if-match.ts";
import {
  draftNotFound,
  draftTranscriptIdIn,
  transcriptNotFound,
  versionNotFound,
} from "./resource-names.ts";
import { findVersion } from "./transcript-changes.ts";

/** The maximum size of a draft's content. */
export const draftBytesMax = 8 << 20;
/** The memory for the answer per byte of content: the bytes, and base64 in JSON. */
const heldPerByte = 3;

interface DraftParts {
  readonly db: Kysely<Tables>;
  /** The memory for answers. */
  readonly answers: HeldBytes;
  /** The storage limit in bytes for accounts that have none of their own. */
  readonly storedBytesMax?: number;
}

/** The methods of drafts. The content of a draft is never logged. */
export function draftMethods(parts: DraftParts) {
  const { db, answers } = parts;
  return {
    async getTranscriptDraft({ name, allowMissing }, context) {
      const owner = callerOf(context);
      const id = draftTranscriptIdIn(name);
      if (!id) throw draftNotFound(name);
      const bytes = (await draftBytes(db, owner, id)) ?? 0;
      answers.hold(owner.accountId, heldPerByte * bytes)[Symbol.dispose]();
      const draft = await findDraft(db, owner, id);
      if (draft) return draftMessage(name, draft, draft.content);
      if (!allowMissing) throw draftNotFound(name);
      return create(TranscriptDraftSchema, { name });
    },

    async saveTranscriptDraft(request, context) {
      const draft = checkDraft(request);
      const expected = expectedIn(context.requestHeader);
      const saved = await saveDraft(parts, callerOf(context), draft, expected);
      return draftMessage(draft.name, saved);
    },

    async deleteTranscriptDraft({ name }, context) {
      const owner = callerOf(context);
      const id = draftTranscriptIdIn(name);
      if (!id) throw draftNotFound(name);
      const expected = matchIn(context.requestHeader.get("if-match"));
      if (!(await deleteDraft(db, owner, id, expected))) {
        const etag = await draftEtag(db, owner, id);
        throw etag === undefined ? draftNotFound(name) : draftChanged(etag);
      }
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

type CheckedDraft = Pick<TranscriptDraft, "name" | "baseVersion" | "content">;

function checkDraft({ draft }: SaveTranscriptDraftRequest): CheckedDraft {
  const violations = new Violations();
  const { name = "", baseVersion = "", content = new Uint8Array() } = draft ?? {};
  if (baseVersion === "") violations.add("draft.baseVersion", "is required");
  if (content.length === 0) violations.add("draft.content", "is required");
  if (content.length > draftBytesMax) {
    const description = `has ${content.length} bytes; at most ${draftBytesMax} are allowed`;
    violations.add("draft.content", description);
  }
  violations.throwIfAny();
  return { name, baseVersion, content };
}

/** Reads which state the draft must have from the headers If-Match and If-None-Match. */
function expectedIn(headers: Headers): ExpectedDraft {
  const none = headers.get("if-none-match");
  const match = headers.get("if-match");
  if (none === null) return matchIn(match);
  const field = "If-None-Match";
  if (none.trim() !== "*") {
    throw invalidArgument([{ field, description: `must be *, not ${shown(none)}` }]);
  }
  if (match !== null) {
    throw invalidArgument([{ field, description: "cannot be sent together with If-Match" }]);
  }
  return "none";
}

function matchIn(header: string | null): Exclude<ExpectedDraft, "none"> {
  if (header === null) return "any";
  const etags = entityTags(header);
  return etags.includes("*") ? "some" : { etags };
}

async function saveDraft(
  { db, storedBytesMax = 0 }: DraftParts,
  owner: DraftOwner,
  { name, baseVersion, content }: CheckedDraft,
  expected: ExpectedDraft,
): Promise<StoredDraft> {
  const transcriptId = draftTranscriptIdIn(name);
  return await db.transaction().execute(async (trx) => {
    const bytesMax = await holdStoredBytes(trx, owner.accountId, { storedBytesMax });
    if (!transcriptId || !(await lockDrafts(trx, owner, transcriptId))) {
      throw transcriptNotFound(name.replace(/\/draft$/, ""));
    }
    const isVersion =
      isId(baseVersion) && (await findVersion(trx, transcriptId, baseVersion)) !== undefined;
    if (!isVersion) throw versionNotFound(`transcripts/${transcriptId}/versions/${baseVersion}`);
    const draft = { transcriptId, baseVersionId: baseVersion, content, etag: newId(), expected };
    const saved = await putDraft(trx, owner, draft);
    if (!saved) throw draftChanged(await draftEtag(trx, owner, transcriptId));
    await checkStoredBytes(trx, owner.accountId, bytesMax);
    return saved;
  });
}

function draftMessage(
  name: string,
  { baseVersionId: baseVersion, etag, updatedAt }: StoredDraft,
  content: Uint8Array = new Uint8Array(),
): TranscriptDraft {
  const updateTime = timestampFromDate(updatedAt);
  return create(TranscriptDraftSchema, { name, baseVersion, content, etag, updateTime });
}

function draftChanged(etag: string | undefined): ServiceError {
  const problem =
    etag === undefined ? "there is no draft" : `another client has saved it, as ${etag}`;
  return new ServiceError("aborted", `the draft has changed: ${problem}`, {
    reason: "DRAFT_CHANGED",
    metadata: { etag: etag ?? "" },
  });
}
