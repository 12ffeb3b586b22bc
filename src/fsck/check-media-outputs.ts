import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

/** The number of recordings whose outputs are read together: a few MB each. */
const pageRows = 20;

interface OutputsRow {
  /** The media. */
  readonly id: string;
  readonly is_intact: boolean;
}

/**
 * Checks that the outputs of models for media are unchanged. Outputs of another model, or only for
 * a part of the media, are correct: they are not used.
 */
export async function* checkMediaOutputs(
  archive: Archive,
): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "outputs", async (after) => await outputsPage(archive, after));
  for await (const { id, is_intact: isIntact } of rows) {
    if (isIntact) continue;
    const remedy = {
      done: "they were deleted, and alignment uses the sound",
      run: () => deleteOutputs(archive, id),
    };
    yield { code: "MEDIA_OUTPUTS", name: `media/${id}`, what: "they have changed", remedy };
  }
}

async function outputsPage({ db }: Archive, after: string): Promise<readonly OutputsRow[]> {
  const { rows } = await sql<OutputsRow>`
    select media_id as id, bool_and(sha256(outputs) = sha256) as is_intact
    from media_outputs
    where media_id in (select distinct media_id from media_outputs
      where media_id > ${after} order by media_id limit ${pageRows})
    group by media_id order by media_id
  `.execute(db);
  return rows;
}

async function deleteOutputs({ db }: Archive, id: string): Promise<boolean> {
  const query = db.deleteFrom("media_outputs").where("media_id", "=", id);
  return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n;
}
