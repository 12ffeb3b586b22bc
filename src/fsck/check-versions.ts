import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageRows = 5_000;

/** Reports versions without a transcript, which checkTranscripts() does not read. */
export async function* checkVersions(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "versions", async (after) => {
    const page = await sql<{ id: string; transcript_id: string; is_owned: boolean }>`
      select v.id, v.transcript_id, t.id is not null as is_owned
      from (select id, transcript_id from transcript_version
        where id > ${after} order by id limit ${pageRows}) v
      left join transcript t on t.id = v.transcript_id
      order by v.id`.execute(archive.db);
    return page.rows;
  });
  for await (const { id, transcript_id: transcriptId, is_owned: isOwned } of rows) {
    if (isOwned) continue;
    const name = `transcripts/${transcriptId}/versions/${id}`;
    yield { code: "VERSION_UNOWNED", name, what: "its transcript does not exist" };
  }
}
