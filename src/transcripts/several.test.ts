import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";
import { scopes } from "../auth/caller.ts";
import {
  CountTranscriptsRequestSchema,
  ListFirstWordsRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/several_pb.ts";
import {
  SpeakerInfoSchema,
  type ListTranscriptsRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { parseFilter } from "./filter.ts";
import { conditionsOf } from "./find-rows.ts";
import { matcherOf } from "./matches-filter.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, service, client, accountId } = app;
const context = callBy(testCaller(accountId, scopes));

const count = async (filter = "") =>
  await service.countTranscripts(create(CountTranscriptsRequestSchema, { filter }), context);

/** The transcripts of the account, by subject, with the minutes of their recordings. */
const transcripts = {
  a: { languageCode: "is-IS", keywords: ["fundur", "ráð"], minutes: 1, speakers: ["Anna"] },
  b: { languageCode: "is-IS", keywords: ["fundur"], minutes: 10, speakers: ["Anna", "Jón"] },
  c: { languageCode: "en-US", keywords: [], minutes: 60, speakers: ['John "J" O\'Neill'] },
  d: { languageCode: "en-US", keywords: ["ráð"], minutes: undefined, speakers: [] },
} as const;
const day = (subject: string) => `2026-11-0${subject.charCodeAt(0) - 96}T12:00:00Z`;

before(async () => {
  for (const [subject, { minutes, keywords, ...own }] of Object.entries(transcripts)) {
    const speakers = Object.fromEntries(
      own.speakers.map((fullName, at) => [`${at}`, create(SpeakerInfoSchema, { fullName })]),
    );
    const { languageCode } = own;
    const metadata = { subject, languageCode, keywords: [...keywords] };
    const name = await client.create({ metadata: metadataWith({ ...metadata, speakers }) });
    await db
      .updateTable("transcript")
      .set({ listed_ms: minutes === undefined ? null : minutes * 60_000 })
      .set({ updated_at: new Date(day(subject)) })
      .where("id", "=", name.slice("transcripts/".length))
      .execute();
  }
});

const filters: readonly [filter: string, found: string][] = [
  ['metadata.language_code = "is-IS"', "ab"],
  ['metadata.languageCode="IS-is"', "ab"],
  ['metadata.language_code = "da-DK"', ""],
  ['metadata.speakers CONTAINS ["Anna"]', "ab"],
  ['metadata.speakers CONTAINS ["Jón", "Njáll"]', "b"],
  [String.raw`metadata.speakers CONTAINS ["John \"J\" O'Neill"]`, "c"],
  ['metadata.speakers CONTAINS ["anna"]', ""],
  ['metadata.recording_duration >= "600s"', "bc"],
  ['metadata.recordingDuration < "600s"', "a"],
  ['metadata.recording_duration >= "0s"', "abc"],
  ['metadata.recording_duration < "2147483s"', "abc"],
  ['metadata.recording_duration >= "60s" AND metadata.recording_duration < "60.001s"', "a"],
  ['version.creation_time >= "2026-11-02T12:00:00Z"', "bcd"],
  ['version.creationTime < "2026-11-02T13:00:00+01:00"', "a"],
  [
    'version.creation_time >= "2026-11-02T00:00:00Z" AND version.creation_time < "2026-11-04T00:00:00Z"',
    "bc",
  ],
  ['metadata.language_code = "en-US" AND metadata.keywords CONTAINS ["ráð"]', "d"],
];

test("filters by language, speaker, duration and time find the same transcripts in every order, in lists, counts and watches", async () => {
  const rows = await db
    .selectFrom("transcript as t")
    .where("account_id", "=", accountId)
    .select(["subject", "keywords", "listed_ms", "updated_at"])
    .select(sql<string>`t.metadata ->> 'languageCode'`.as("language"))
    .select(
      sql<string[]>`jsonb_path_query_array(t.metadata, '$.speakers.*.fullName')`.as("speakers"),
    )
    .execute();
  const items = rows.map(({ listed_ms: durationMs, updated_at: changedAt, ...row }) => ({
    ...row,
    transcript: { language: row.language, speakers: row.speakers, durationMs, changedAt },
  }));
  const orders: MessageInitShape<typeof ListTranscriptsRequestSchema>["ordering"][] = [
    undefined,
    { direction: 2 },
    { orderBy: "metadata.recording_duration" },
    { orderBy: "metadata.recording_duration", direction: 2 },
    { orderBy: "subject" },
  ];
  for (const [filter, found] of filters) {
    for (const ordering of orders) {
      // Pages of one also read the positions.
      let listed = "";
      let pageToken = "";
      do {
        const page = await client.list({
          filter,
          pageSize: 1,
          pageToken,
          ...(ordering && { ordering }),
        });
        listed += page.transcripts.map(({ metadata }) => metadata?.subject).join("");
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      const inOrder = Array.from(listed).toSorted().join("");
      assert.equal(inOrder, found, `${filter} by ${JSON.stringify(ordering)}`);
    }
    assert.equal((await count(filter)).count, found.length, filter);
    const parsed = parseFilter(filter, { ofTranscripts: true });
    assert.ok(!("field" in parsed));
    const matches = matcherOf(parsed);
    const watched = items.filter(matches).map(({ subject }) => subject);
    assert.equal(watched.toSorted().join(""), found, filter);
  }
});

test("every bad value of a filter is reported with what was expected", async () => {
  const bad: readonly [filter: string, message: RegExp][] = [
    ['metadata.language_code CONTAINS "is"', /expected = at column 24/],
    ['metadata.speakers = "Anna"', /expected CONTAINS at column 19/],
    ['metadata.recording_duration > "1s"', /expected >= or < at column 29/],
    ['metadata.recording_duration >= "1m"', /expected a duration such as "90s".* at column 32/],
    ['metadata.recording_duration >= "2147484s"', /expected a duration .*at most "2147483s"/],
    ['version.creation_time >= "yesterday"', /expected a time such as .* at column 26/],
    ['version.creation_time < "2026-13-01T00:00:00Z"', /expected a time such as/],
    ["metadata.description", /metadata.language_code or .* or version.creation_time/],
  ];
  for (const [filter, message] of bad) {
    await assert.rejects(client.list({ filter }), { message }, filter);
    await assert.rejects(count(filter), { message }, filter);
  }
});

test("languages, keywords and speakers are counted, the most frequent first", async () => {
  const { count: all, more, ...values } = await count();
  assert.deepEqual([all, more], [4, false]);
  assert.deepEqual(values, {
    languages: [
      { value: "en-US", count: 2 },
      { value: "is-IS", count: 2 },
    ],
    keywords: [
      { value: "fundur", count: 2 },
      { value: "ráð", count: 2 },
    ],
    speakers: [
      { value: "Anna", count: 2 },
      { value: 'John "J" O\'Neill', count: 1 },
      { value: "Jón", count: 1 },
    ],
  });
  assert.deepEqual((await count('metadata.speakers CONTAINS ["Jón"]')).keywords, [
    { value: "fundur", count: 1 },
  ]);
});

test("the first words are those of the current version, also of a long text; other accounts have none", async () => {
  const words = Array.from({ length: 30_000 }, (_, at) => {
    const time = { seconds: BigInt(at >> 2), nanos: (at % 4) * 250_000_000 };
    return { startTime: time, endTime: time, word: `orð ${at} "x"\n` };
  });
  const long = await client.create({
    metadata: metadataWith({ subject: "long" }),
    segments: [{ startTime: {}, endTime: { seconds: 7_500n }, words }],
  });
  const none = await client.create({ metadata: metadataWith({ subject: "none" }), segments: [] });
  const second = (at: number) => ({ seconds: BigInt(at) });
  const lines = await client.create({
    metadata: metadataWith({ subject: "lines" }),
    segments: ["Góðan", "Já"].map((word, at) => {
      const time = { startTime: second(at), endTime: second(at + 1) };
      return {
        ...time,
        words: [
          { ...time, word },
          { ...time, word: `${at}.` },
        ],
      };
    }),
  });
  const names = [none, `transcripts/${newId()}`, long, lines];
  const request = create(ListFirstWordsRequestSchema, { names });
  const { firstWords } = await service.listFirstWords(request, context);
  assert.deepEqual(
    firstWords?.map(({ name }) => name),
    [none, long, lines],
  );
  assert.equal(firstWords[2]?.text, "Góðan0. Já1.");
  assert.equal(firstWords[0]?.text, "");
  assert.match(firstWords[1]?.text ?? "", /^orð 0 "x" orð 1 "x" orð 2 "x"/);
  const { length } = firstWords[1]?.text ?? "";
  assert.ok(length >= 190 && length < 230, `${length} characters`);
  const other = callBy(testCaller(await app.newAccount(), scopes));
  assert.deepEqual((await service.listFirstWords(request, other)).firstWords, []);
});

test("a filter that finds little of 100,000 transcripts reads little, by an index that begins with the account", async (t) => {
  await fill(100_000);
  const { rows: sizes } = await sql<{ pages: number }>`
    select (pg_relation_size('transcript') / current_setting('block_size')::int)::int as pages`.execute(
    db,
  );
  const pages = sizes[0]?.pages ?? 0;
  assert.ok(pages > 2_000, `${pages} pages`);
  const indexes: readonly [filter: string, index: RegExp][] = [
    ['metadata.language_code = "fo-FO"', /transcript_by_language/],
    ['metadata.speakers CONTAINS ["Sjaldséð"]', /transcript_by_speaker/],
    ['metadata.keywords CONTAINS ["sjaldséð"]', /transcript_account_id_keywords_idx/],
    ['metadata.subject CONTAINS "sjaldséð"', /transcript_account_id_subject_idx/],
    [
      'metadata.language_code = "is-IS" AND metadata.keywords CONTAINS ["sjaldséð"]',
      /transcript_account_id_keywords_idx/,
    ],
    ['metadata.recording_duration >= "9000s"', /transcript_listed_by_duration_down/],
    ['metadata.recording_duration < "1s"', /transcript_listed_by_duration\b/],
    ['version.creation_time >= "2030-01-01T00:00:00Z"', /transcript_listed_by_change/],
  ];
  for (const [filter, index] of indexes) {
    const parsed = parseFilter(filter, { ofTranscripts: true });
    assert.ok(!("field" in parsed));
    const { rows } = await sql<{ "QUERY PLAN": string }>`
      explain (analyze, buffers) select t.id from transcript t
      where t.account_id = ${accountId}::uuid and ${conditionsOf(parsed)}`.execute(db);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    const [, hit = "0", read = "0"] =
      /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? [];
    t.diagnostic(`${filter}: ${Number(hit) + Number(read)} of ${pages} pages`);
    assert.ok(Number(hit) + Number(read) < pages / 20, `${filter}\n${plan}`);
    assert.match(plan, index, filter);
    assert.doesNotMatch(plan, /Seq Scan/, filter);
  }
});

/** Adds transcripts of the account whose language, speaker, duration and time are common. */
async function fill(number: number): Promise<void> {
  await sql`
    insert into transcript (id, account_id, version_id, metadata, subject, keywords, listed_ms, updated_at)
    select gen_random_uuid(), ${accountId}, gen_random_uuid(), jsonb_build_object(
        'languageCode', 'is-IS', 'speakers', jsonb_build_object('1', jsonb_build_object('fullName', 'Anna'))),
      'fundur', '{fundur}', 60000 + number % 100000, timestamptz '2025-01-01' + number * interval '1 minute'
    from generate_series(1, ${number}) as number`.execute(db);
  // Also moves the new entries of GIN indexes, which searches read one by one, into their trees.
  await sql`vacuum analyze transcript`.execute(db);
}
