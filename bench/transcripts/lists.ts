// Measures the lists of §4.3 with a million transcripts: whole calls over REST, compared with the
// same SQL through the bare driver.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { Kysely, PostgresDialect, type CompiledQuery } from "kysely";
import pg from "pg";
import { Client } from "undici";
import { Distribution } from "../../src/cli/bench/distribution.ts";
import { signingKey } from "../../src/database/signing-key.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { parseFilter } from "../../src/transcripts/filter.ts";
import type { ListPosition } from "../../src/std/page-request.ts";
import { createPageTokens, type PageTokens } from "../../src/std/page-token.ts";
import { orderedBy, positionOf } from "../../src/transcripts/row-order.ts";
import type { SearchLimits } from "../../src/transcripts/search-limits.ts";
import {
  findTranscripts,
  listTranscripts,
  type TranscriptList,
} from "../../src/transcripts/transcript-lists.ts";
import { readOrdering, type TranscriptOrder } from "../../src/transcripts/transcript-order.ts";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";
import { compareCalls, get, percentiles, repeat } from "../compare-calls.ts";
import type { Figure } from "../report.ts";
import { fillArchive, rareWord } from "./archive.ts";

const archive = { transcripts: 1_000_000, largeShare: 0.3, middleShare: 0.2, middleAccounts: 10 };
const accounts = 4_000;
const pageSize = 50;
const deepPage = 4_000;
/** The maximum ratio at the p50. */
const ratioMax = 3;
/**
 * Our own limit: callers that send requests without a pause share the processors with all others,
 * but must not get all of them.
 */
const underLoadRatioMax = 10;
/** The number of calls that compiles the service's code. */
const warmCalls = 300;

interface Case {
  readonly name: string;
  readonly filter?: string;
  readonly isDeep?: boolean;
  /** The ordering, as in the query; by default the list has none. */
  readonly orderBy?: string;
  readonly isAscending?: boolean;
}

const subject = (text: string, isDeep = false): Case => ({
  name: `subject ${text}${isDeep ? `, page of the ${deepPage}th` : ""}`,
  filter: `metadata.subject CONTAINS "${text}"`,
  isDeep,
});
const keyword = (...texts: string[]): Case => ({
  name: `keyword ${texts.join(" or ")}`,
  filter: `metadata.keywords CONTAINS ${JSON.stringify(texts)}`,
});
const both = (one: Case, other: Case): Case => ({
  name: `${one.name} and ${other.name}`,
  filter: `${one.filter} AND ${other.filter}`,
});
const defaultOrderCases: readonly Case[] = [
  { name: "first page" },
  { name: `page ${deepPage}`, isDeep: true },
  subject("fundur"),
  subject("fundur", true),
  subject("ELDGOS"),
  subject(rareWord),
  subject("réttur court"),
  subject("ekkert"),
  subject("ur"),
  keyword("fundur"),
  keyword("orka"),
  keyword(rareWord),
  keyword("fundur", "orka"),
  both(keyword("fundur"), keyword("orka")),
  both(keyword("viðtal"), subject("eldgos")),
  keyword("ekkert"),
];
const orders: readonly Pick<Case, "orderBy" | "isAscending">[] = [
  { orderBy: "version.creation_time", isAscending: true },
  { orderBy: "subject" },
  { orderBy: "subject", isAscending: true },
  { orderBy: "metadata.recording_duration" },
  { orderBy: "metadata.recording_duration", isAscending: true },
];
const casesOfEachOrder: readonly Case[] = [
  { name: "first page" },
  { name: `page ${deepPage}`, isDeep: true },
  subject("fundur"),
  subject("ELDGOS", true),
  subject(rareWord),
  keyword(rareWord),
  both(keyword("fundur"), keyword("orka")),
];
const cases: readonly Case[] = [
  ...defaultOrderCases,
  ...orders.flatMap((order) =>
    casesOfEachOrder.map(({ name, ...rest }) => {
      const direction = order.isAscending ? "ascending" : "descending";
      return { name: `${order.orderBy} ${direction}: ${name}`, ...order, ...rest };
    }),
  ),
];

function orderOf({ orderBy = "", isAscending = false }: Case): TranscriptOrder {
  const order = readOrdering({ orderBy, direction: isAscending ? 2 : 1 });
  if (!("key" in order)) throw new Error(`${orderBy} orders no list`);
  return order;
}

/** Measures lists with its own service and archive, which are deleted afterward. */
export async function runLists(): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using service = await startService(data, {
      HLUST_ENGINE: "scripted",
      HLUST_LOG: "error",
    });
    const client = new pg.Client({
      host: join(data, "postgres", "18"),
      user: "hlust",
      database: "postgres",
    });
    await client.connect();
    try {
      const began = performance.now();
      const accountId = await fill(client);
      console.log(`filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);
      return await measureLists(service, client, accountId);
    } finally {
      await client.end();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Fills the archive. Returns the account of the service's first key, which has the large share. */
async function fill(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select id from account");
  const others = Array.from({ length: accounts }, () => newId());
  await client.query("insert into account (id, display_name) select unnest($1::uuid[]), 'bench'", [
    others,
  ]);
  const first = rows[0]?.id ?? "";
  await fillArchive(client, [first, ...others], archive);
  return first;
}

/**
 * Measures the median time of whole calls as a ratio to that of their SQL through the driver: at
 * most 3.
 */
async function measureLists(
  service: ServiceProcess,
  client: pg.Client,
  accountId: string,
): Promise<Figure[]> {
  const { host, user = "", database = "" } = client;
  const queries: CompiledQuery[] = [];
  await using db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ host, user, database }) }),
    log: ({ query }) => {
      queries.push(query);
    },
  });
  const tokens = createPageTokens(await signingKey(db, "page-token"));
  const http = new Client(service.address);
  const firstPage = async (): Promise<void> =>
    await get(http, service.key, pathOf(tokens, accountId, { name: "" }, undefined));
  await repeat(firstPage, warmCalls);
  const figures: Figure[] = [];
  for (const each of cases) {
    const order = orderOf(each);
    const after = each.isDeep
      ? await positionAt(db, accountId, order, deepPage * pageSize)
      : undefined;
    queries.length = 0;
    await listDirectly(db, { accountId, order }, each.filter, after);
    const asked = [...queries];
    const bare = async (): Promise<void> => {
      for (const query of asked) await client.query(query.sql, [...query.parameters]);
    };
    const path = pathOf(tokens, accountId, each, after);
    const whole = async (): Promise<void> => await get(http, service.key, path);
    const figure = await compareCalls(each.name, service.pid, { whole, bare, ratioMax });
    console.log(`${figure.name.padEnd(72)} ${figure.ratio.toFixed(2)}  ${figure.note}`);
    figures.push(figure);
  }
  figures.push(await duringLetters(service, firstPage));
  await http.close();
  return figures;
}

/**
 * Reads first pages while the maximum number of one-letter searches without matches run
 * continuously.
 */
async function duringLetters(
  service: ServiceProcess,
  firstPage: () => Promise<void>,
): Promise<Figure> {
  const filter = encodeURIComponent('metadata.subject CONTAINS "ʘ"');
  const path = `/v1alpha1/transcripts?filter=${filter}`;
  const headers = { authorization: `Bearer ${service.key}` };
  const [alone, loaded] = [new Distribution(), new Distribution()];
  await repeat(firstPage, 100, alone);
  const statuses = new Map<number, number>();
  const stop = new AbortController();
  const letters = Array.from({ length: 8 }, async () => {
    const http = new Client(service.address);
    while (!stop.signal.aborted) {
      const { statusCode, body } = await http.request({ method: "GET", path, headers });
      await body.dump();
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
    await http.close();
  });
  await repeat(firstPage, 200, loaded);
  stop.abort();
  await Promise.all(letters);
  const [[p50], [later50, later99]] = [percentiles(alone), percentiles(loaded)];
  const answers = [...statuses].map(([status, count]) => `${count} of ${status}`).join(", ");
  const note = `p50 ${later50.toFixed(2)} p99 ${later99.toFixed(1)} ms, alone ${p50.toFixed(2)}; letters: ${answers}`;
  return {
    name: "first page during 8 searches for a letter",
    ratio: later50 / p50,
    ratioMax: underLoadRatioMax,
    note,
  };
}

/**
 * Finds transcripts as the service does, but without its limits, because only the database query is
 * measured here.
 */
async function listDirectly(
  db: Kysely<Tables>,
  list: TranscriptList,
  filterText: string | undefined,
  after: ListPosition | undefined,
): Promise<void> {
  const page = { after, size: pageSize };
  if (filterText === undefined) {
    await listTranscripts(db, list, page);
    return;
  }
  const filter = parseFilter(filterText);
  if ("field" in filter) throw new Error(filter.description);
  const limits: SearchLimits = {
    indexed: async (search) => await search(db),
    wide: async (search) => await search(() => {}),
  };
  await findTranscripts(db, { ...list, filter }, page, limits);
}

async function positionAt(
  db: Kysely<Tables>,
  accountId: string,
  order: TranscriptOrder,
  index: number,
): Promise<ListPosition> {
  const row = await db
    .selectFrom("transcript as t")
    .select(["id", positionOf(order, "t").as("position")])
    .where("account_id", "=", accountId)
    .orderBy(orderedBy(order, "t"))
    .offset(index)
    .limit(1)
    .executeTakeFirstOrThrow();
  return [row.position, row.id];
}

function pathOf(
  tokens: PageTokens,
  accountId: string,
  list: Case,
  after: ListPosition | undefined,
): string {
  const { filter = "", orderBy = "", isAscending = false } = list;
  const query = new URLSearchParams({ pageSize: `${pageSize}` });
  if (filter !== "") query.set("filter", filter);
  if (orderBy !== "") query.set("ordering.orderBy", orderBy);
  if (isAscending) query.set("ordering.direction", "ASCENDING");
  const { name: ordering } = orderOf(list);
  const scope = { collection: "transcripts", accountId, filter, ordering };
  if (after) query.set("pageToken", tokens.write(scope, after));
  return `/v1alpha1/transcripts?${query.toString()}`;
}
