import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { foldText } from "../std/fold-text.ts";
import { ServiceError } from "../std/service-error.ts";
import { readFound } from "./find-rows.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});

/**
 * Creates an account with many transcripts. Their subjects are "m <number>", and every 1000th is "m
 * <number> qx". All but the newest hundred have the keyword "old".
 */
async function accountWith(count: number, { db, newAccount } = app): Promise<string> {
  const accountId = await newAccount();
  await sql`
    insert into transcript (id, account_id, version_id, metadata, subject, keywords, listed_ms, updated_at)
    select gen_random_uuid(), ${accountId}, gen_random_uuid(),
           jsonb_build_object('subject', subject, 'keywords', keywords), subject, keywords, ms, at
    from (
      select case when n % 13 > 0 then n % 100 end as ms,
             case when n % 1000 = 0 then 'm ' || n || ' qx' else 'm ' || n end as subject,
             array['k' || n % 3, case when n % 1000 = 0 then 'thousand' else 'k' end,
                   case when n < ${count} - 100 then 'old' else 'new' end] as keywords,
             timestamptz '2026-01-01' + n / 5 * interval '1 microsecond' as at
      from generate_series(1, ${count}::int) n) as made`.execute(db);
  await sql`analyze transcript`.execute(db);
  return accountId;
}

/** Returns the subjects of all pages. */
async function subjectsOf(
  accountId: string,
  filter: string,
  pageSize: number,
  ordering: { readonly orderBy?: string; readonly direction?: 1 | 2 } = {},
): Promise<string[]> {
  const client = app.clientFor(accountId);
  const subjects: string[] = [];
  let pageToken = "";
  do {
    const page = await client.list({ filter, pageSize, pageToken, ordering });
    subjects.push(...page.transcripts.map(({ metadata }) => metadata?.subject ?? ""));
    assert.ok(page.transcripts.length === pageSize || page.nextPageToken === "");
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return subjects;
}

test("a filter has the same results in the same order, whether they are found among the newest, by an index, or by a full scan", async () => {
  const accountId = await accountWith(12_000);
  // Another account with the same subjects.
  await accountWith(2_000);
  const { rows } = await sql<{ subject: string; keywords: string[] }>`
    select subject, keywords from transcript where account_id = ${accountId}
    order by updated_at desc, id desc`.execute(app.db);
  const cases: [filter: string, passes: (row: (typeof rows)[0]) => boolean, sizes: number[]][] = [
    // The oldest matches are far beyond the rows that are scanned first.
    ['metadata.subject CONTAINS "QX"', ({ subject }) => subject.includes("qx"), [1, 3, 12, 13]],
    ['metadata.subject CONTAINS "000 qx"', ({ subject }) => subject.includes("qx"), [1, 5, 12]],
    ['metadata.subject CONTAINS "777"', ({ subject }) => subject.includes("777"), [7, 1000]],
    ['metadata.subject CONTAINS "77"', ({ subject }) => subject.includes("77"), [50, 1000]],
    ['metadata.subject CONTAINS "m"', () => true, [1000]],
    [
      'metadata.keywords CONTAINS ["thousand"]',
      ({ keywords }) => keywords.includes("thousand"),
      [2],
    ],
    ['metadata.keywords CONTAINS ["k1"]', ({ keywords }) => keywords.includes("k1"), [500]],
    [
      'metadata.keywords CONTAINS ["thousand", "none"]',
      ({ keywords }) => keywords.includes("thousand"),
      [5],
    ],
    [
      'metadata.keywords CONTAINS ["thousand"] AND metadata.subject CONTAINS "m 4"',
      ({ keywords, subject }) => keywords.includes("thousand") && subject.startsWith("m 4"),
      [1, 50],
    ],
    ['metadata.subject CONTAINS "z"', () => false, [50]],
    ['metadata.subject CONTAINS "zzz"', () => false, [50]],
    ['metadata.keywords CONTAINS ["z"]', () => false, [50]],
  ];
  for (const [filter, passes, sizes] of cases) {
    const expected = rows.filter(passes).map(({ subject }) => subject);
    for (const size of sizes) {
      assert.deepEqual(await subjectsOf(accountId, filter, size), expected, `${filter}, ${size}`);
    }
  }
});

test("a filter has the same results in each ordering", async () => {
  const accountId = await accountWith(12_000);
  const filters = [
    'metadata.subject CONTAINS "qx"',
    'metadata.subject CONTAINS "77"',
    'metadata.keywords CONTAINS ["thousand", "k1"] AND metadata.subject CONTAINS "m 11"',
  ];
  const passing = [
    sql`subject like '%qx%'`,
    sql`subject like '%77%'`,
    sql`keywords && '{thousand,k1}' and subject like '%m 11%'`,
  ];
  const orders: [orderBy: string, direction: 1 | 2, sql: string][] = [
    ["subject", 1, 'subject collate "C" desc, id desc'],
    ["subject", 2, 'subject collate "C", id'],
    ["metadata.recording_duration", 1, "listed_ms desc nulls last, id desc"],
    ["metadata.recording_duration", 2, "listed_ms nulls last, id"],
    ["version.creation_time", 2, "updated_at, id"],
  ];
  for (const [orderBy, direction, inOrder] of orders) {
    for (const [at, filter] of filters.entries()) {
      const { rows } = await sql<{ subject: string }>`
        select subject from transcript where account_id = ${accountId} and ${passing[at]}
        order by ${sql.raw(inOrder)}`.execute(app.db);
      const seen = await subjectsOf(accountId, filter, at === 0 ? 5 : 97, { orderBy, direction });
      const expected = rows.map(({ subject }) => subject);
      assert.ok(expected.length > 10);
      assert.deepEqual(seen, expected, `${filter}, ${inOrder}`);
    }
  }
});

test("a filter that takes too long is refused with advice, and other calls are answered while it runs", async () => {
  await using hasty = await openTestTranscripts({ filterMsMax: 1 });
  const accountId = await accountWith(10_000, hasty);
  const client = hasty.clientFor(accountId);
  const tooSlow = (advice: string) => ({
    code: "invalid_argument",
    reason: "FILTER_TOO_SLOW",
    violations: [{ field: "filter", description: `takes too long in this account: ${advice}` }],
  });
  const letter = { filter: 'metadata.subject CONTAINS "z"' };
  await assert.rejects(client.list(letter), tooSlow("use a text of three letters or more"));
  const old = { filter: 'metadata.keywords CONTAINS ["old"]', pageSize: 1 };
  await assert.rejects(client.list(old), tooSlow("use a longer text, or add clauses with AND"));

  const searches = Array.from({ length: 16 }, async () => await reasonOf(client.list(letter)));
  const other = hasty.clientFor(await hasty.newAccount());
  const name = await other.create({ metadata: metadataWith({ subject: "z" }) });
  const seen = [await other.list(letter), await other.list(), await client.list({ pageSize: 1 })];
  assert.deepEqual(
    seen.map(({ transcripts }) => transcripts.length),
    [1, 1, 1],
  );
  assert.equal(seen[0]?.transcripts[0]?.name, name);
  const reasons = new Set(await Promise.all(searches));
  assert.deepEqual([...reasons.values()].toSorted(), ["FILTER_TOO_SLOW", "SEARCHES_BUSY"]);
});

async function reasonOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "none";
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    return error.reason;
  }
}

/**
 * Letters with their own case rules, marks and lengths. Each item is a whole grapheme, so that no
 * part of a text splits one.
 */
const letters = [
  ..."abkKþÞæÆðÐöÖáÁýÝ 7%_\\\"'ßẞſﬁﬃσςΣΆάᾳДдЖжІıİiI会議録ひカ한中é".split(""),
  "🎙",
  "e\u0301",
  "O\u0308",
  "👩🏽‍🚀",
  "🇮🇸",
];
const variants: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => text.normalize("NFD"),
];

test("any part of a subject matches it, in any case and Unicode normalization", async () => {
  const client = app.clientFor(await app.newAccount());
  const text = fc.array(fc.constantFrom(...letters), { maxLength: 14 });
  const subjects = fc.sample(text, { numRuns: 80, seed: 2 });
  for (const subject of subjects) {
    await client.create({ metadata: metadataWith({ subject: subject.join("") }) });
  }
  const part = fc.record({
    subject: fc.constantFrom(...subjects),
    from: fc.nat(14),
    length: fc.nat(8),
    variant: fc.constantFrom(...variants),
  });
  await fc.assert(
    fc.asyncProperty(part, async ({ subject, from, length, variant }) => {
      const needle = variant(subject.slice(from, from + length).join(""));
      const quoted = `"${needle.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
      const filter = `metadata.subject CONTAINS ${quoted}`;
      const { transcripts } = await client.list({ filter, pageSize: 100 });
      const seen = transcripts.map(({ metadata }) => metadata?.subject ?? "");
      assert.ok(seen.includes(subject.join("")), `${needle} in ${subject.join("")}`);
      const folded = subjects
        .map((each) => each.join(""))
        .filter((each) => {
          return foldText(each).includes(foldText(needle));
        });
      assert.deepEqual(seen.toSorted(), folded.toSorted(), needle);
    }),
    { numRuns: 300 },
  );
});

test("a page of found rows begins and ends where they were found, even if rows have moved since", async () => {
  const found = ["a", "b", "c"].map((id) => ({ id, position: `found ${id}` }));
  const read = async ({ ids }: { readonly ids: readonly string[] }) =>
    ids.filter((id) => id !== "b").map((id) => ({ id, position: `now ${id}`, metadata: "{}" }));
  // The row c was the last one of the page before, and has changed.
  const page = await readFound({ after: ["found c", "c"], size: 1 }, found, read);
  assert.deepEqual(
    page.rows.map(({ id }) => id),
    ["a"],
  );
  assert.deepEqual(page.next, ["found a", "a"]);
  const rest = await readFound({ after: ["found a", "a"], size: 2 }, found.slice(1), read);
  assert.deepEqual(
    rest.rows.map(({ id }) => id),
    ["c"],
  );
  assert.equal(rest.next, undefined);
});
