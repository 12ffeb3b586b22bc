import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { sql } from "kysely";
import { newId } from "../src/std/ids.ts";
import { segmentsFromJson } from "../src/transcripts/segments.ts";
import { metadataWith, type TestTranscripts } from "./open-test-transcripts.ts";
import { segmentOf } from "./spec/transcripts.ts";

/** Ids of a transcript with media and three versions, the last of which has the first one's segments. */
export interface Kept {
  readonly id: string;
  /** Oldest first. */
  readonly versions: readonly string[];
  readonly mediaId: string;
}

/** Takes away whatever was kept, and keeps one transcript. */
export async function keepOnlyOne(test: TestTranscripts): Promise<Kept> {
  const { db, mediaFolder } = test;
  await sql`truncate transcript, media, upload, transcript_job cascade`.execute(db);
  await sql`drop schema if exists pgboss cascade`.execute(db);
  for (const name of await readdir(join(mediaFolder, "finished"))) {
    for (const file of await readdir(join(mediaFolder, "finished", name))) {
      await rm(join(mediaFolder, "finished", name, file));
    }
  }
  for await (const { id } of test.store.removed.list()) await test.store.removed.delete(id);
  return await keep(test);
}

async function keep({ client, uploads, urls, db }: TestTranscripts): Promise<Kept> {
  const name = await client.create({
    metadata: metadataWith({ subject: "Þingfundur", keywords: ["þing", "fundur"] }),
    segments: segmentsFromJson([segmentOf("góðan dag ")]),
  });
  const [, id = ""] = name.split("/");
  await client.update({ name, segments: segmentsFromJson([segmentOf("gott kvöld ")]) }, "segments");
  const [, first] = (await client.versions({ parent: name })).versions;
  await client.restore(name, first?.name.split("/").at(-1) ?? "");
  const { storageSignedUrl } = await client.initUpload(name);
  const url = new URL(storageSignedUrl);
  const grant = urls.verify("PUT", url.pathname + url.search);
  const uploadId = grant?.path.split("/").at(-1) ?? "";
  await uploads.receive(uploadId, bytesOf("RIFF of a recording"), { bytesMax: 1_000 });
  const { media_id: mediaId } = await db
    .selectFrom("transcript")
    .where("id", "=", id)
    .select("media_id")
    .executeTakeFirstOrThrow();
  const { versions } = await client.versions({ parent: name });
  const ids = versions.map((version) => version.name.split("/").at(-1) ?? "");
  return { id, versions: ids.toReversed(), mediaId: mediaId ?? "" };
}

export async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Damage that no rule of the database holds up. */
export async function damage(
  { db }: TestTranscripts,
  query: ReturnType<typeof sql>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await query.execute(trx);
  });
}

export const fileOf = (test: TestTranscripts, id: string) =>
  join(test.mediaFolder, "finished", id.slice(-2), id);
export const packed = (json: string) => ({
  sha256: createHash("sha256").update(json).digest(),
  zstd: zstdCompressSync(json),
});
export const aged = sql`now() - interval '2 hours'`;

export async function newMedia(
  test: TestTranscripts,
  accountId: string,
  at = sql`now()`,
): Promise<string> {
  const id = newId();
  const { sizeBytes, sha256 } = await test.store.put(id, bytesOf("else"), { bytesMax: 10 });
  await sql`insert into media (id, account_id, size_bytes, sha256, content_type, created_at)
    values (${id}, ${accountId}, ${sizeBytes}, ${sha256}, 'audio/wav', ${at})`.execute(test.db);
  return id;
}
