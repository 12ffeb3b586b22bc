import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { setFacts, shownMs } from "../media/media-facts.ts";
import { durationFromMs } from "../std/duration.ts";
import { foldText } from "../std/fold-text.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { insertTranscript } from "./insert-transcript.ts";
import { enforceRetention } from "./retention.ts";
import { readOrdering } from "./transcript-order.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});

test("readOrdering() reads each spelling of a field, and a direction", () => {
  const rows: [ordering: Parameters<typeof readOrdering>[0], name: string][] = [
    [undefined, "version.creation_time desc"],
    [{ direction: 0, orderBy: "" }, "version.creation_time desc"],
    [{ direction: 2, orderBy: "" }, "version.creation_time asc"],
    [{ direction: 0, orderBy: "subject" }, "subject desc"],
    [{ direction: 1, orderBy: "metadata.subject" }, "subject desc"],
    [{ direction: 2, orderBy: "metadata.recording_duration" }, "metadata.recording_duration asc"],
    [{ direction: 2, orderBy: "metadata.recordingDuration" }, "metadata.recording_duration asc"],
    [{ direction: 1, orderBy: "version.creation_time" }, "version.creation_time desc"],
    [{ direction: 2, orderBy: "version.creationTime" }, "version.creation_time asc"],
  ];
  for (const [ordering, name] of rows) {
    const order = readOrdering(ordering);
    assert.equal("name" in order && order.name, name);
  }
});

test("readOrdering() reports what is wrong with an ordering", () => {
  const known = "must be one of subject, metadata.recording_duration, version.creation_time";
  const unknown = [
    "Subject",
    "subject desc",
    "-subject",
    " subject",
    "subject,version.creation_time",
    "metadata",
    "metadata.recording_Duration",
    "recordingDuration",
    "version.creationtime",
    "updateTime",
    "metadata.keywords",
    "__proto__",
    "\0",
  ];
  for (const orderBy of unknown) {
    assert.deepEqual(readOrdering({ direction: 1, orderBy }), [
      { field: "ordering.orderBy", description: `${known}, not ${JSON.stringify(orderBy)}` },
    ]);
  }
  for (const direction of [3, -1, 2 ** 31 - 1]) {
    assert.deepEqual(readOrdering({ direction, orderBy: "" }), [
      {
        field: "ordering.direction",
        description: `must be DESCENDING (1) or ASCENDING (2), not ${direction}`,
      },
    ]);
  }
  assert.deepEqual(
    [readOrdering({ direction: 9, orderBy: "x" })]
      .flat()
      .map((each) => "field" in each && each.field),
    ["ordering.direction", "ordering.orderBy"],
  );
});

/**
 * The Icelandic order of ICU, without regard to case and to accents that Icelandic does not have.
 */
const icelandic = new Intl.Collator("is", { sensitivity: "base" });

test("subjects are in the order of the Icelandic alphabet, and of ICU for other characters", async () => {
  const letters = "aábdðeéfghiíjklmnoóprstuúvxyýþæöAÁÞÆÖüÜäèñçžšøcqwz 0129-,.:(&_'".split("");
  const texts = fc.sample(fc.string({ unit: fc.constantFrom(...letters), maxLength: 6 }), {
    numRuns: 400,
    seed: 1,
  });
  const accountId = await app.newAccount();
  const folded = texts.map(foldText);
  const { rows } = await sql<{ subject: string; subject_key: string }>`
    insert into transcript (id, account_id, version_id, metadata, subject, keywords)
    select gen_random_uuid(), ${accountId}, gen_random_uuid(), '{}', subject, '{}'
    from unnest(${folded}::text[]) as made (subject)
    returning subject, subject_key`.execute(app.db);
  const keys = new Map(rows.map((row) => [row.subject, Buffer.from(row.subject_key)]));
  for (const [at, one] of folded.entries()) {
    const other = folded[(at * 7 + 1) % folded.length] ?? "";
    const [key, otherKey] = [keys.get(one), keys.get(other)];
    assert.ok(key && otherKey);
    assert.equal(
      Math.sign(Buffer.compare(key, otherKey)),
      Math.sign(icelandic.compare(one, other)),
      `${one} and ${other}`,
    );
  }
});

interface Values {
  readonly subject: string;
  readonly ms: number | null;
  readonly minute: number;
}

const values: fc.Arbitrary<Values> = fc.record({
  subject: fc.constantFrom("", "Ána", "ána", "Bára", "Þór", "z", "Örn", "x".repeat(120)),
  ms: fc.constantFrom(null, 0, 1, 60_000, 2 ** 31 - 2),
  minute: fc.nat(4),
});

const columns = sql`subject, listed_ms, updated_at`;
const valueRows = (rows: readonly Values[]) => sql`
  unnest(${rows.map(({ subject }) => foldText(subject))}::text[], ${rows.map(({ ms }) => ms)}::int[],
    ${rows.map(({ minute }) => new Date(Date.UTC(2026, 0, 1, 0, minute)))}::timestamptz[])`;

async function insert(accountId: string, rows: readonly Values[]): Promise<string[]> {
  const made = await sql<{ id: string }>`
    insert into transcript (id, account_id, version_id, metadata, keywords, ${columns})
    select gen_random_uuid(), ${accountId}, gen_random_uuid(), '{}', '{k}', made.*
    from ${valueRows(rows)} as made (${columns}) returning id`.execute(app.db);
  return made.rows.map(({ id }) => id);
}

const orders = ["", "subject", "metadata.recording_duration", "version.creation_time"] as const;

/** Compares two rows as a list with this ordering does. */
function compare(orderBy: string, isAscending: boolean) {
  const unknown = isAscending ? Infinity : -Infinity;
  const value = {
    subject: (a: Values, b: Values) => icelandic.compare(a.subject, b.subject),
    "metadata.recording_duration": (a: Values, b: Values) =>
      Number((a.ms ?? unknown) > (b.ms ?? unknown)) - Number((a.ms ?? unknown) < (b.ms ?? unknown)),
    "version.creation_time": (a: Values, b: Values) => a.minute - b.minute,
  }[orderBy || "version.creation_time"];
  assert.ok(value);
  return (a: Values & { id: string }, b: Values & { id: string }) =>
    (value(a, b) || (a.id < b.id ? -1 : Number(a.id > b.id))) * (isAscending ? 1 : -1);
}

test("pages in each ordering contain each transcript that does not change exactly once, in order, whatever others do", async () => {
  const change = fc.record({
    comes: fc.array(values, { maxLength: 3 }),
    goes: fc.array(fc.nat(), { maxLength: 2 }),
    changes: fc.array(fc.tuple(fc.nat(), values), { maxLength: 2 }),
  });
  const list = fc.record({
    filter: fc.constantFrom("", 'metadata.keywords CONTAINS ["k"]'),
    orderBy: fc.constantFrom(...orders),
    direction: fc.constantFrom(0, 1, 2),
    pageSize: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(values, { maxLength: 25 }),
      list,
      fc.array(change, { maxLength: 8 }),
      async (first, { filter, orderBy, direction, pageSize }, changes) => {
        const accountId = await app.newAccount();
        const client = app.clientFor(accountId);
        const ids = await insert(accountId, first);
        const same = new Map(ids.map((id, at) => [id, first[at]]));
        const take = (at: number) => {
          const id = [...same.keys()][at % same.size];
          if (id !== undefined) same.delete(id);
          return id ?? newId();
        };
        const seen: string[] = [];
        let [pageToken, step] = ["", 0];
        do {
          const query = { filter, ordering: { direction, orderBy }, pageSize, pageToken };
          const page = await client.list(query);
          seen.push(...page.transcripts.map(({ name }) => name.slice("transcripts/".length)));
          pageToken = page.nextPageToken;
          const { comes = [], goes = [], changes: others = [] } = changes[step] ?? {};
          step += 1;
          await insert(accountId, comes);
          await app.db
            .deleteFrom("transcript")
            .where("id", "in", [newId(), ...goes.map(take)])
            .execute();
          for (const [at, value] of others) {
            await sql`update transcript set (${columns}) = (select * from ${valueRows([value])})
              where id = ${take(at)}`.execute(app.db);
          }
        } while (pageToken !== "");
        const expected = [...same]
          .flatMap(([id, value]) => (value ? [{ id, ...value }] : []))
          .toSorted(compare(orderBy, direction === 2))
          .map(({ id }) => id);
        assert.deepEqual(
          seen.filter((id) => same.has(id)),
          expected,
        );
      },
    ),
    { numRuns: 150 },
  );
});

/** Returns the subjects and seconds of a list by duration, longest first. */
async function byDuration(): Promise<[subject: string, seconds: number | undefined][]> {
  const ordering = { orderBy: "metadata.recording_duration" };
  const { transcripts } = await app.client.list({ ordering });
  const { rows } = await sql`
    select from transcript t
    where account_id = ${app.accountId} and listed_ms is distinct from ${shownMs}`.execute(app.db);
  assert.equal(rows.length, 0, "the column is the duration that is shown");
  return transcripts.map(({ metadata }) => {
    const { subject = "", recordingDuration } = metadata ?? {};
    return [subject, recordingDuration && Number(recordingDuration.seconds)];
  });
}

async function upload(name: string): Promise<string> {
  const id = name.replace("transcripts/", "");
  const begun = await app.uploads.begin(app.accountId, id);
  assert.ok(begun);
  await app.uploads.receive(begun.id, oneByte(), { bytesMax: 1 });
  const row = await app.db
    .selectFrom("transcript")
    .where("id", "=", id)
    .select("media_id")
    .executeTakeFirstOrThrow();
  return row.media_id ?? "";
}

async function* oneByte() {
  yield new Uint8Array(1);
}

async function describe(mediaId: string, seconds: number): Promise<void> {
  const facts = { durationMs: seconds * 1000, fileType: "AUDIO" } as const;
  await app.db.transaction().execute((trx) => setFacts(trx, mediaId, facts));
}

test("the order by duration follows jobs, uploads, descriptions, new versions and deletions of media", async () => {
  const metadata = metadataWith({ subject: "job", recordingDuration: durationFromMs(20_000) });
  const transcript = {
    accountId: app.accountId,
    metadata,
    segments: [],
    kind: "RECOGNIZED",
  } as const;
  const { id, versionId } = await app.db
    .transaction()
    .execute(async (trx) => await insertTranscript(trx, transcript));
  const job = `transcripts/${id}`;
  const own = await app.client.create({ metadata: metadataWith({ subject: "own" }) });
  assert.deepEqual(await byDuration(), [
    ["job", 20],
    ["own", undefined],
  ]);
  const ofOwn = await upload(own);
  assert.deepEqual(await byDuration(), [
    ["job", 20],
    ["own", undefined],
  ]);
  await describe(ofOwn, 30);
  assert.deepEqual(await byDuration(), [
    ["own", 30],
    ["job", 20],
  ]);
  await app.client.update({ name: own, metadata: { subject: "new" } }, "metadata.subject");
  assert.deepEqual(await byDuration(), [
    ["new", 30],
    ["job", 20],
  ]);
  const first = await upload(job);
  assert.deepEqual(await byDuration(), [
    ["new", 30],
    ["job", undefined],
  ]);
  const second = await upload(job);
  await describe(first, 50);
  assert.deepEqual(
    await byDuration(),
    [
      ["new", 30],
      ["job", undefined],
    ],
    "it was replaced",
  );
  await describe(second, 40);
  await app.client.restore(job, versionId);
  assert.deepEqual(await byDuration(), [
    ["job", 40],
    ["new", 30],
  ]);
  await app.db
    .updateTable("account")
    .set({ media_retention_days: 1 })
    .where("id", "=", app.accountId)
    .execute();
  const log = createLog("silent");
  await enforceRetention({ ...app, log, now: () => Date.now() + 2 * 86_400_000 });
  assert.equal((await app.client.get(job)).uri, "");
  assert.deepEqual(await byDuration(), [
    ["job", 40],
    ["new", 30],
  ]);
});
