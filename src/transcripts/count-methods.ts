import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type RawBuilder } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { invalidArgument } from "../std/service-error.ts";
import { parseFilter, type Filter } from "./filter.ts";
import { conditionsOf } from "./find-rows.ts";
import type { SearchLimitsOf } from "./search-limits.ts";

/** The maximum number of transcripts that are counted. */
const countedMax = 100_000;
/** The maximum number of values of each kind. */
const valuesMax = 100;

/** A value, and the number of transcripts that have it. */
interface Counted {
  readonly value: string;
  readonly count: number;
}

interface Counts {
  readonly count: number;
  readonly languages: readonly Counted[];
  readonly keywords: readonly Counted[];
  readonly speakers: readonly Counted[];
}

/** The method that counts the transcripts of a filter, and the values that they have. */
export function countMethods({ searchLimits }: { readonly searchLimits: SearchLimitsOf }) {
  return {
    async countTranscripts({ filter: text }, context) {
      const { accountId } = callerOf(context);
      const filter = text === "" ? [] : parseFilter(text, { ofTranscripts: true });
      if ("field" in filter) throw invalidArgument([filter]);
      const { count, ...values } = await searchLimits(accountId, context.signal).indexed(
        async (db) => await countValues(db, accountId, filter),
      );
      const more = count > countedMax;
      return {
        count: Math.min(count, countedMax),
        more,
        languages: [...values.languages],
        keywords: [...values.keywords],
        speakers: [...values.speakers],
      };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** Reads each row once; what it has is counted in the memory of one statement. */
async function countValues(db: Kysely<Tables>, accountId: string, filter: Filter): Promise<Counts> {
  const { rows } = await sql<Counts>`
    with found as materialized (
      select t.metadata ->> 'languageCode' as language, t.keywords,
        jsonb_path_query_array(t.metadata, '$.speakers.*.fullName') as speakers
      from transcript t
      where t.account_id = ${accountId}::uuid and ${conditionsOf(filter)}
      order by t.updated_at desc, t.id desc limit ${countedMax + 1}),
    counted as materialized (select * from found limit ${countedMax})
    select (select count(*)::int from found) as count,
      ${most(sql`select language as value from counted where language <> ''`)} as languages,
      ${most(sql`select distinct_value as value from counted
        cross join lateral (select distinct unnest(keywords) as distinct_value) each`)} as keywords,
      ${most(sql`select distinct_value as value from counted cross join lateral
        (select distinct jsonb_array_elements_text(speakers) as distinct_value) each
        where distinct_value <> ''`)} as speakers
  `.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the count has no row");
  return row;
}

/** The most frequent values of a query, as JSON. */
function most(values: RawBuilder<unknown>): RawBuilder<readonly Counted[]> {
  return sql`(select coalesce(json_agg(json_build_object('value', value, 'count', number)
      order by number desc, value), '[]')
    from (select value, count(*)::int as number from (${values}) as each_value
      group by value order by count(*) desc, value limit ${valuesMax}) as most)`;
}
