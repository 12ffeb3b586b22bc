import { sql } from "kysely";
import { newId } from "../../src/std/ids.ts";
import { longSegments } from "../fixtures/long-transcript.ts";
import type { NodeUnderAttack } from "./node-under-attack.ts";
import { megabyteMetadata } from "./payloads.ts";
import { ask } from "./send.ts";

/**
 * Inserts a running job with metadata of the size that was possible before it was limited; resolves
 * to the job's name.
 */
export async function insertMegabyteJob({ db, accountId }: NodeUnderAttack): Promise<string> {
  const id = newId();
  await sql`
    insert into transcript_job (id, account_id, state, lease, metadata, media_uri)
    values (${id}::uuid, ${accountId}::uuid, 'PROCESSING', 0, ${JSON.stringify(megabyteMetadata())}::jsonb, 'http://127.0.0.1:9/x')
  `.execute(db);
  return `transcriptjob/${id}`;
}

/** How many rows of a megabyte a statement changes, so that it stays far below its time limit. */
const rowsAtOnce = 20;

/**
 * Inserts transcripts with metadata of the size that was possible before it was limited. They have
 * no versions, which lists do not read.
 */
export async function insertMegabyteTranscripts(
  { db, accountId }: NodeUnderAttack,
  count: number,
): Promise<void> {
  const metadata = JSON.stringify(megabyteMetadata());
  for (let inserted = 0; inserted < count; inserted += rowsAtOnce) {
    await sql`
      insert into transcript (id, account_id, version_id, metadata, subject, keywords)
      select gen_random_uuid(), ${accountId}::uuid, gen_random_uuid(), ${metadata}::jsonb, '', '{}'
      from generate_series(1, ${Math.min(rowsAtOnce, count - inserted)}::int)
    `.execute(db);
  }
}

export async function deleteMegabyteTranscripts({ db, accountId }: NodeUnderAttack): Promise<void> {
  for (let deleted = 1n; deleted > 0n;) {
    const { numAffectedRows } = await sql`
      delete from transcript where id in (
        select id from transcript where account_id = ${accountId}::uuid and subject = ''
        limit ${rowsAtOnce}
      )
    `.execute(db);
    deleted = numAffectedRows ?? 0n;
  }
}

const longest = new WeakMap<NodeUnderAttack, Promise<string>>();

/**
 * Returns the name of the longest accepted transcript (200,000 words), which is created once for
 * all attacks.
 */
export async function longestTranscript(node: NodeUnderAttack): Promise<string> {
  const name = longest.get(node) ?? createLongest(node);
  longest.set(node, name);
  return await name;
}

async function createLongest(node: NodeUnderAttack): Promise<string> {
  const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject: "allt" };
  const body = JSON.stringify({ metadata, segments: longSegments(200_000) });
  const answer = await ask(node, "/v1alpha1/transcripts", { body });
  const name = /"name":"(transcripts\/[^"]+)"/.exec(answer)?.[1];
  if (name === undefined) throw new Error(`it was not created: ${answer}`);
  return name;
}
