import { create } from "@bufbuild/protobuf";
import { EmptySchema, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import { newSecretToken } from "../auth/secret-token.ts";
import { databaseClock, databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import { ShareSchema, type Share } from "../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { isId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, type FieldViolation } from "../std/service-error.ts";
import { checkText, throwViolations } from "./check-values.ts";
import {
  shareIdsIn,
  shareNotFound,
  transcriptIdIn,
  transcriptNotFound,
  versionNotFound,
} from "./resource-names.ts";
import {
  countShares,
  deleteShare,
  findShares,
  insertShare,
  lockShares,
  type StoredShare,
} from "./share-store.ts";
import { sharePrefix } from "./shared-transcript.ts";

/** The limits of shares (docs/api.md, Transcripts). */
export const shareLimits = { perTranscript: 100, days: 366, noteChars: 1000 } as const;
const defaultDays = 30;
const dayMs = 86_400_000;

interface ShareParts {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  /** The public address of the service. */
  readonly publicUrl: () => string;
  readonly now?: () => number;
}

/** The methods of shares. The token of a share is only in the answer that creates it. */
export function shareMethods(parts: ShareParts) {
  const { db, publicUrl } = parts;
  return {
    async createShare({ parent, share: wanted }, context) {
      const caller = callerOf(context);
      refuseWithoutReading(caller);
      const transcriptId = transcriptIdIn(parent);
      const now = parts.now ?? (await databaseClock(db));
      const createdAt = new Date(now());
      const share = wanted ?? create(ShareSchema);
      throwViolations([...checkShare(share, createdAt)]);
      const { version: versionId } = share;
      if (versionId !== "" && !isId(versionId))
        throw versionNotFound(`${parent}/versions/${versionId}`);
      const { token, ...secret } = newSecretToken(sharePrefix);
      const made = { ...secret, ...settingsOf(share, createdAt), author: caller.actor, createdAt };
      const stored = await insertAudited(parts, caller, { transcriptId, parent, made });
      return create(ShareSchema, {
        ...shareMessage(stored),
        uri: `${publicUrl()}/console/shared/${token}`,
      });
    },

    async listShares({ parent }, context) {
      const caller = callerOf(context);
      const transcriptId = transcriptIdIn(parent);
      const found = await findShares(db, caller, {
        transcriptId,
        now: databaseTime(parts.now),
      });
      if (found.length === 0 && !(await hasTranscript(db, caller, transcriptId))) {
        throw transcriptNotFound(parent);
      }
      return { shares: found.map((each) => shareMessage(each)) };
    },

    async deleteShare({ name }, context) {
      const caller = callerOf(context);
      const ids = shareIdsIn(name);
      await audited(parts, caller, async (trx, record) => {
        if (!(await deleteShare(trx, caller, ids))) throw shareNotFound(name);
        await record({ action: "share.delete", resource: name });
      });
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** Throws permission_denied for a key that may write but not read: a link would let it read. */
function refuseWithoutReading({ scopes }: Caller): void {
  const scope = "transcripts.read";
  if (scopes.has(scope)) return;
  const problem = `a link lets its reader do what needs the scope ${scope}, which you lack`;
  throw new ServiceError("permission_denied", problem, {
    reason: "SCOPE_MISSING",
    metadata: { scope },
  });
}

function* checkShare({ expireTime, note }: Share, now: Date): Generator<FieldViolation> {
  yield* checkText("share.note", note, shareLimits.noteChars);
  if (!expireTime) return;
  const inMs = timestampDate(expireTime).getTime() - now.getTime();
  if (inMs > 0 && inMs <= shareLimits.days * dayMs) return;
  const description = `must be in the future, at most ${shareLimits.days} days from now`;
  yield { field: "share.expireTime", description };
}

function settingsOf({ expireTime, note, version, withMedia }: Share, now: Date) {
  return {
    expiresAt: expireTime
      ? timestampDate(expireTime)
      : new Date(now.getTime() + defaultDays * dayMs),
    note,
    versionId: version === "" ? undefined : version,
    withMedia,
  };
}

async function insertAudited(
  parts: ShareParts,
  caller: Caller,
  share: {
    readonly transcriptId: string;
    readonly parent: string;
    readonly made: Parameters<typeof insertShare>[3];
  },
): Promise<StoredShare> {
  const { transcriptId, parent, made } = share;
  const now = databaseTime(() => made.createdAt.getTime());
  return await audited(parts, caller, async (trx, record) => {
    if (!(await lockShares(trx, caller, transcriptId))) throw transcriptNotFound(parent);
    if (made.versionId !== undefined && !(await hasVersion(trx, transcriptId, made.versionId))) {
      throw versionNotFound(`${parent}/versions/${made.versionId}`);
    }
    if ((await countShares(trx, transcriptId, now)) >= shareLimits.perTranscript) {
      throw tooManyShares();
    }
    await insertShare(trx, caller, transcriptId, made);
    const details = {
      withMedia: `${made.withMedia}`,
      expireTime: made.expiresAt.toISOString(),
      ...(made.versionId !== undefined && { version: made.versionId }),
    };
    await record({ action: "share.create", resource: `${parent}/shares/${made.id}`, details });
    const [stored] = await findShares(trx, caller, { transcriptId, id: made.id, now });
    if (!stored) throw new Error(`the share ${made.id} was not stored`);
    return stored;
  });
}

function tooManyShares(): ServiceError {
  const { perTranscript } = shareLimits;
  const problem = `the transcript has ${perTranscript} shares, which is the maximum: delete one first`;
  return new ServiceError("failed_precondition", problem, {
    reason: "TOO_MANY_SHARES",
    metadata: { limit: `${perTranscript}` },
  });
}

async function hasTranscript(
  db: Kysely<Tables>,
  { accountId }: Caller,
  id: string,
): Promise<boolean> {
  const row = await db
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

async function hasVersion(
  db: Kysely<Tables>,
  transcriptId: string,
  versionId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom("transcript_version")
    .where("transcript_id", "=", transcriptId)
    .where("id", "=", versionId)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

function shareMessage(stored: StoredShare): Share {
  const { last_read_at: lastReadAt } = stored;
  return create(ShareSchema, {
    name: `transcripts/${stored.transcript_id}/shares/${stored.id}`,
    withMedia: stored.with_media,
    expireTime: timestampFromDate(stored.expires_at),
    createTime: timestampFromDate(stored.created_at),
    author: stored.author,
    authorName: stored.author_name,
    version: stored.version_id ?? "",
    note: stored.note,
    ...(lastReadAt && { lastReadTime: timestampFromDate(lastReadAt) }),
  });
}
