import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageRows = 1_000;

interface UploadRow {
  readonly id: string;
  readonly media_fits: boolean;
  readonly transcript_fits: boolean;
}

/** Checks that uploads refer only to media and transcripts of their own account. */
export async function* checkUploads(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "uploads", async (after) => {
    const page = await sql<UploadRow>`
      select u.id,
        u.media_id is null or m.account_id is not distinct from u.account_id as media_fits,
        u.transcript_id is null or coalesce(t.account_id, t.bin_account_id) is not distinct from u.account_id as transcript_fits
      from (select * from upload where id > ${after} order by id limit ${pageRows}) u
      left join media m on m.id = u.media_id
      left join transcript t on t.id = u.transcript_id
      order by u.id`.execute(archive.db);
    return page.rows;
  });
  for await (const row of rows) {
    const name = `uploads/${row.id}`;
    const what = "it does not exist, or belongs to another account";
    if (!row.media_fits) yield { code: "UPLOAD_MEDIA", name, what: `its media: ${what}` };
    if (!row.transcript_fits) {
      yield { code: "UPLOAD_TRANSCRIPT", name, what: `its transcript: ${what}` };
    }
  }
}
