import type { Database } from "../../src/database/database.ts";

/** The tables that actions change. */
const changedTables = [
  "account",
  "api_key",
  "client_key",
  "member",
  "stream_token",
  "transcript",
  "transcript_review_range",
  "transcript_share",
  "vocabulary",
  "vocabulary_phrase",
  "webhook",
];

/**
 * Returns the content of those tables and the audit log, except for the times when keys were used.
 */
export async function contentOfAccess(database: Pick<Database, "pool">): Promise<string> {
  const texts = [...changedTables, "audit_event"].map(async (name) => {
    const { rows: kept } = await database.pool.query<{ text: string }>(
      `select (to_jsonb(t) - 'last_used_at')::text as text from ${name} t order by 1`,
    );
    return `${name}\n${kept.map(({ text }) => text).join("\n")}`;
  });
  return (await Promise.all(texts)).join("\n\n");
}
