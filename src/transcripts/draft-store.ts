import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { hasListed } from "./bin-store.ts";
import { ServiceError } from "../std/service-error.ts";

/** The caller that a draft belongs to, and that alone can read and change it. */
export interface DraftOwner {
  readonly accountId: string;
  /** `apiKeys/<id>`, `clientKeys/<id>` or `members/<id>`. */
  readonly actor: string;
}

export interface StoredDraft {
  readonly baseVersionId: string;
  readonly etag: string;
  readonly updatedAt: Date;
}

/** The state that a draft must have to be replaced or deleted. */
export type ExpectedDraft =
  | "any"
  | "none"
  /** There is a draft. */
  | "some"
  | { readonly etags: readonly string[] };

/** Returns the number of bytes of a draft's content, or undefined if there is no draft. */
export async function draftBytes(
  db: Kysely<Tables>,
  owner: DraftOwner,
  transcriptId: string,
): Promise<number | undefined> {
  const row = await ownDraft(db, owner, transcriptId).select("size_bytes").executeTakeFirst();
  return row?.size_bytes;
}

export async function findDraft(
  db: Kysely<Tables>,
  owner: DraftOwner,
  transcriptId: string,
): Promise<(StoredDraft & { readonly content: Buffer }) | undefined> {
  const row = await ownDraft(db, owner, transcriptId)
    .select(["base_version_id", "content", "etag", "updated_at"])
    .executeTakeFirst();
  return row && { ...storedOf(row), content: row.content };
}

/** Returns the etag of a draft, or undefined if there is no draft. */
export async function draftEtag(
  db: Kysely<Tables>,
  owner: DraftOwner,
  transcriptId: string,
): Promise<string | undefined> {
  const row = await ownDraft(db, owner, transcriptId).select("etag").executeTakeFirst();
  return row?.etag;
}

/**
 * Returns whether the account has the transcript, which is not deleted before the transaction ends.
 * Throws unauthenticated if the owner has just been deleted.
 */
export async function lockDrafts(
  trx: Transaction<Tables>,
  { accountId, actor }: DraftOwner,
  transcriptId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from ${sql.table(ownerTable[collectionOf(actor)])}
    where id = ${idOf(actor)} and account_id = ${accountId} for key share
  `.execute(trx);
  if (rows.length === 0) throw new ServiceError("unauthenticated", `${actor} was deleted`);
  const transcript = await trx
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", transcriptId)
    .select("id")
    .forKeyShare()
    .executeTakeFirst();
  return transcript !== undefined;
}

/**
 * Stores a draft of a transcript that exists. Returns undefined, and changes nothing, if the draft
 * is not in the expected state. Each case is one statement, so that only one of several concurrent
 * calls with the same expectation succeeds.
 */
export async function putDraft(
  trx: Transaction<Tables>,
  owner: DraftOwner,
  draft: {
    readonly transcriptId: string;
    readonly baseVersionId: string;
    readonly content: Uint8Array;
    readonly etag: string;
    readonly expected: ExpectedDraft;
  },
): Promise<StoredDraft | undefined> {
  const { transcriptId, baseVersionId, content, etag, expected } = draft;
  const values = { base_version_id: baseVersionId, content: Buffer.from(content), etag };
  if (expected !== "any" && expected !== "none") {
    const row = await trx
      .updateTable("transcript_draft")
      .set({ ...values, updated_at: sql<Date>`now()` })
      .where(isOwn(owner, transcriptId))
      .where(isExpected(expected))
      .returning(["base_version_id", "etag", "updated_at"])
      .executeTakeFirst();
    return row && storedOf(row);
  }
  const row = await trx
    .insertInto("transcript_draft")
    .values({
      ...values,
      ...ownerColumns(owner.actor),
      transcript_id: transcriptId,
      account_id: owner.accountId,
    })
    .onConflict((conflict) => {
      const same = conflict.columns(["transcript_id", "actor"]);
      if (expected === "none") return same.doNothing();
      return same.doUpdateSet({ ...values, updated_at: sql<Date>`now()` });
    })
    .returning(["base_version_id", "etag", "updated_at"])
    .executeTakeFirst();
  return row && storedOf(row);
}

/** Deletes a draft. Returns false if there is none in the expected state. */
export async function deleteDraft(
  db: Kysely<Tables>,
  owner: DraftOwner,
  transcriptId: string,
  expected: Exclude<ExpectedDraft, "none">,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("transcript_draft")
    .where(isOwn(owner, transcriptId))
    .where(isExpected(expected))
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

function ownDraft(db: Kysely<Tables>, owner: DraftOwner, transcriptId: string) {
  return db.selectFrom("transcript_draft").where(isOwn(owner, transcriptId));
}

function isOwn({ accountId, actor }: DraftOwner, transcriptId: string) {
  return sql<boolean>`(transcript_id = ${transcriptId} and actor = ${actor}
    and account_id = ${accountId} and ${hasListed(accountId, transcriptId)})`;
}

function isExpected(expected: ExpectedDraft) {
  if (typeof expected === "string") return sql<boolean>`true`;
  return sql<boolean>`etag::text = any(${[...expected.etags]}::text[])`;
}

const ownerTable = { members: "member", apiKeys: "api_key", clientKeys: "client_key" } as const;

function collectionOf(actor: string): keyof typeof ownerTable {
  const [collection] = actor.split("/");
  if (collection === "members" || collection === "apiKeys" || collection === "clientKeys") {
    return collection;
  }
  throw new TypeError(`${actor} cannot own drafts`);
}

function idOf(actor: string): string {
  return actor.slice(collectionOf(actor).length + 1);
}

/** The columns that refer to the owner; a draft is deleted with its owner. */
function ownerColumns(actor: string) {
  const collection = collectionOf(actor);
  return {
    member_id: collection === "members" ? idOf(actor) : null,
    api_key_id: collection === "apiKeys" ? idOf(actor) : null,
    client_key_id: collection === "clientKeys" ? idOf(actor) : null,
  };
}

function storedOf(row: {
  readonly base_version_id: string;
  readonly etag: string;
  readonly updated_at: Date;
}): StoredDraft {
  return { baseVersionId: row.base_version_id, etag: row.etag, updatedAt: row.updated_at };
}
