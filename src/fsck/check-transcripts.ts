import { sql } from "kysely";
import { shownMs } from "../media/media-facts.ts";
import { foldText } from "../std/fold-text.ts";
import { paged, type Archive } from "./archive.ts";
import { flawedVersions, type Chain } from "./chain.ts";
import type { Finding, FindingCode } from "./finding.ts";
import { deriveFilters, deriveHead } from "./repair-head.ts";

const pageRows = 500;

interface HeadRow extends Chain {
  readonly id: string;
  readonly version_id: string;
  readonly subject: string;
  readonly shown_subject: string | null;
  readonly keywords_differ: boolean;
  readonly duration_differs: boolean;
  readonly head_missing: boolean;
  readonly head_has_child: boolean;
  readonly metadata_differs: boolean;
  readonly parent_differs: boolean;
  readonly time_differs: boolean;
  readonly media_id: string | null;
  readonly media_is_own: boolean;
}

/** Compares heads with their versions, and checks the chains of versions. */
export async function* checkTranscripts(
  archive: Archive,
): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "transcripts", async (after) => await headPage(archive, after));
  for await (const row of rows) {
    yield* headFindings(archive, row);
    yield* chainFindings(archive, row);
  }
}

/**
 * Reads heads with their versions and chains in one snapshot, so that a change in progress is seen
 * completely or not at all.
 */
async function headPage({ db }: Archive, after: string): Promise<readonly HeadRow[]> {
  const { rows } = await sql<HeadRow>`
    with page as (select * from transcript where id > ${after} order by id limit ${pageRows})
    select t.id, t.version_id, t.subject, t.metadata->>'subject' as shown_subject,
      t.keywords <> ${keywordsOf("t.metadata")} as keywords_differ,
      t.listed_ms is distinct from ${shownMs} as duration_differs,
      h.id is null as head_missing,
      h.metadata <> t.metadata as metadata_differs,
      h.parent_id is distinct from t.parent_version_id as parent_differs,
      h.created_at <> t.updated_at as time_differs,
      t.media_id, m.account_id is not distinct from coalesce(t.account_id, t.bin_account_id) as media_is_own,
      c.*
    from page t
    left join transcript_version h on h.id = t.version_id and h.transcript_id = t.id
    left join media m on m.id = t.media_id
    cross join lateral (
      select count(*)::int as versions,
        count(*) filter (where v.parent_id is null)::int as roots,
        count(*) filter (where v.parent_id is not null and p.id is null)::int as gaps,
        (count(v.parent_id) - count(distinct v.parent_id))::int as forks,
        count(*) filter (where v.created_at <= p.created_at)::int as unordered,
        count(*) filter (where s.sha256 is null)::int as textless,
        coalesce(bool_or(v.parent_id = t.version_id), false) as head_has_child
      from transcript_version v
      left join transcript_version p on p.id = v.parent_id and p.transcript_id = v.transcript_id
      left join transcript_segments s
        on s.transcript_id = v.transcript_id and s.sha256 = v.segments_sha256
      where v.transcript_id = t.id) c
    order by t.id
  `.execute(db);
  return rows;
}

/** Returns an SQL expression for the keywords in a metadata column, as a text[]. */
function keywordsOf(column: string) {
  return sql`array(select jsonb_array_elements_text(coalesce(${sql.ref(column)}->'keywords', '[]'::jsonb)))`;
}

function* headFindings({ db }: Archive, row: HeadRow): Generator<Finding, void, undefined> {
  const name = `transcripts/${row.id}`;
  const head = {
    done: "its head was rebuilt from its newest version",
    run: () => deriveHead(db, row.id),
  };
  const filters = {
    done: "it was rebuilt from its metadata",
    run: () => deriveFilters(db, row.id),
  };
  if (row.head_missing) {
    const what =
      row.versions === 0 ? "it has no versions" : `its version ${row.version_id} does not exist`;
    yield { code: "HEAD_VERSION_MISSING", name, what, remedy: head };
  } else {
    const flaws: [isFlawed: boolean, code: FindingCode, what: string][] = [
      [row.head_has_child, "HEAD_NOT_NEWEST", `${row.version_id} has a later version`],
      [row.metadata_differs, "HEAD_METADATA", `its metadata differs from ${row.version_id}`],
      [row.parent_differs, "HEAD_PARENT", `its parent differs from that of ${row.version_id}`],
      [row.time_differs, "HEAD_TIME", `its time differs from that of ${row.version_id}`],
    ];
    for (const [isFlawed, code, what] of flaws) {
      if (isFlawed) yield { code, name, what, remedy: head };
    }
  }
  if (row.subject !== foldText(row.shown_subject ?? "")) {
    yield {
      code: "HEAD_SUBJECT",
      name,
      what: "its folded subject differs from that of its metadata",
      remedy: filters,
    };
  }
  if (row.keywords_differ) {
    yield {
      code: "HEAD_KEYWORDS",
      name,
      what: "its keywords differ from those of its metadata",
      remedy: filters,
    };
  }
  if (row.duration_differs) {
    const what = "its recording duration in lists differs from the shown one";
    yield { code: "HEAD_DURATION", name, what, remedy: filters };
  }
  if (row.media_id !== null && !row.media_is_own) {
    const what = `media/${row.media_id} does not exist, or belongs to another account`;
    yield { code: "TRANSCRIPT_MEDIA", name, what };
  }
}

async function* chainFindings(
  { db }: Archive,
  row: HeadRow,
): AsyncGenerator<Finding, void, undefined> {
  const flaws: [isFlawed: boolean, code: FindingCode, kind: keyof typeof flawedVersions][] = [
    [row.gaps > 0, "VERSION_PARENT_MISSING", "gaps"],
    [row.roots > 1, "VERSION_ROOTS", "roots"],
    [row.forks > 0, "VERSION_FORK", "forks"],
    [row.unordered > 0, "VERSION_TIME", "unordered"],
    // A cycle requires versions out of order.
    [row.unordered > 0, "VERSION_CYCLE", "cycles"],
    [row.textless > 0, "SEGMENTS_MISSING", "textless"],
  ];
  for (const [isFlawed, code, kind] of flaws) {
    if (!isFlawed) continue;
    for (const { id, what } of await flawedVersions[kind](db, row.id)) {
      yield { code, name: `transcripts/${row.id}/versions/${id}`, what };
    }
  }
}
