import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { segmentsFromJson } from "../transcripts/segments.ts";
import { firstId, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";
import { lockHead, newestVersion } from "./newest-version.ts";

const pageRows = 200;
/**
 * The maximum compressed size of a page in bytes. Longer segments are read as a page of their own.
 */
const pageBytesMax = 8_000_000;
/** The maximum size of segments that are read to the end. No transcript has longer ones. */
const jsonBytesMax = 1_000_000_000;

interface SegmentsRow {
  readonly transcript_id: string;
  readonly sha256: Buffer;
  readonly json_zstd: Buffer;
  readonly json_bytes: number;
  readonly is_used: boolean;
}

/**
 * Reads all segments as a reader of the transcript would, and reports segments that no version
 * refers to.
 */
export async function* checkSegments(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const { db, onProgress } = archive;
  let after: Pick<SegmentsRow, "transcript_id" | "sha256"> = {
    transcript_id: firstId,
    sha256: Buffer.alloc(0),
  };
  for (let count = 0; ;) {
    const rows = await segmentsPage(db, after);
    for (const row of rows) yield* segmentsFindings(db, row);
    count += rows.length;
    onProgress?.("segments", count);
    const last = rows.at(-1);
    if (!last) return;
    after = last;
  }
}

async function segmentsPage(
  db: Kysely<Tables>,
  after: Pick<SegmentsRow, "transcript_id" | "sha256">,
): Promise<readonly SegmentsRow[]> {
  const { rows } = await sql<SegmentsRow>`
    with keys as (
      select transcript_id, sha256,
        sum(octet_length(json_zstd)) over place - octet_length(json_zstd) as bytes_before
      from (select * from transcript_segments
        where (transcript_id, sha256) > (${after.transcript_id}::uuid, ${after.sha256}::bytea)
        order by transcript_id, sha256 limit ${pageRows}) page
      window place as (order by transcript_id, sha256))
    select s.*, exists (
        select from transcript_version v
        where v.transcript_id = s.transcript_id and v.segments_sha256 = s.sha256) as is_used
    from keys join transcript_segments s using (transcript_id, sha256)
    where bytes_before < ${pageBytesMax}
    order by transcript_id, sha256
  `.execute(db);
  return rows;
}

async function* segmentsFindings(
  db: Kysely<Tables>,
  row: SegmentsRow,
): AsyncGenerator<Finding, void, undefined> {
  const name = `transcripts/${row.transcript_id}/segments/${row.sha256.toString("hex")}`;
  if (!row.is_used) {
    const remedy = { done: "they were deleted", run: () => deleteUnused(db, row) };
    yield { code: "SEGMENTS_UNUSED", name, what: "no version refers to them", remedy };
  }
  const read = await readSegments(row.json_zstd, row.json_bytes).catch((error: unknown) => {
    return error instanceof Error ? error.message : String(error);
  });
  if (typeof read === "string") {
    yield { code: "SEGMENTS_UNREADABLE", name, what: read };
  } else if (!read.sha256.equals(row.sha256)) {
    const what = `their SHA-256 is ${read.sha256.toString("hex")}`;
    yield { code: "SEGMENTS_ALTERED", name, what };
  } else if (read.bytes !== row.json_bytes) {
    const what = `${row.json_bytes} bytes are recorded, but they have ${read.bytes}`;
    const remedy = {
      done: "their length was recorded",
      run: () => writeLength(db, row, read.bytes),
    };
    yield { code: "SEGMENTS_LENGTH", name, what, remedy };
  } else if (!isSegments(read.json)) {
    yield { code: "SEGMENTS_INVALID", name, what: "they are not segments as the API defines them" };
  }
}

/**
 * Returns the length and hash of compressed JSON, and the JSON itself if it is not too long.
 * Rejects if the data cannot be decompressed.
 */
async function readSegments(
  jsonZstd: Buffer,
  keptBytesMax: number,
): Promise<{ bytes: number; sha256: Buffer; json: Buffer }> {
  const hash = createHash("sha256");
  const kept: Buffer[] = [];
  let bytes = 0;
  const chunks: AsyncIterable<Buffer> = Readable.from([jsonZstd]).pipe(createZstdDecompress());
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > jsonBytesMax) throw new Error(`they are longer than ${jsonBytesMax} bytes`);
    hash.update(chunk);
    if (bytes <= keptBytesMax) kept.push(chunk);
  }
  return { bytes, sha256: hash.digest(), json: Buffer.concat(kept) };
}

function isSegments(json: Buffer): boolean {
  try {
    segmentsFromJson(JSON.parse(json.toString()));
    return true;
  } catch {
    return false;
  }
}

/**
 * Deletes unused segments, unless a version is lost or a chain is broken, since the segments may be
 * the text of that version.
 */
async function deleteUnused(db: Kysely<Tables>, row: SegmentsRow): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const head = await lockHead(trx, row.transcript_id);
    const newest = await newestVersion(trx, row.transcript_id);
    if (!head || head.version_id !== newest?.id) return false;
    const { numDeletedRows } = await trx
      .deleteFrom("transcript_segments as s")
      .where("s.transcript_id", "=", row.transcript_id)
      .where("s.sha256", "=", row.sha256)
      .where(
        sql<boolean>`not exists (
          select from transcript_version v
          where v.transcript_id = s.transcript_id and v.segments_sha256 = s.sha256)`,
      )
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  });
}

async function writeLength(
  db: Kysely<Tables>,
  row: SegmentsRow,
  jsonBytes: number,
): Promise<boolean> {
  await db
    .updateTable("transcript_segments")
    .set({ json_bytes: jsonBytes })
    .where("transcript_id", "=", row.transcript_id)
    .where("sha256", "=", row.sha256)
    .execute();
  return true;
}
