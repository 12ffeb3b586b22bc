import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { metadataWith } from "../../test/fixtures/open-test-transcripts.ts";
import { until } from "../../test/fixtures/until.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { insertTranscript } from "./insert-transcript.ts";
import { createReadTranscript } from "./read-transcript.ts";

let database: Database;
let texts = 0;
/** Resolves when texts that are read may arrive. */
let arrival: Promise<void> = Promise.resolve();
/** The test database, which counts the texts that are read. */
let db: Kysely<Tables>;
before(async () => {
  database = await openTestDatabase();
  db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: database.pool }),
    log: ({ query }) => {
      if (query.sql.startsWith('select "json_zstd"')) texts += 1;
    },
    plugins: [
      {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          const [row] = result.rows;
          if (row && Object.keys(row).join() === "json_zstd") await arrival;
          return result;
        },
      },
    ],
  });
});
after(() => database[Symbol.asyncDispose]());

async function addTranscript(jsonBytes: number) {
  const accountId = newId();
  await db.insertInto("account").values({ id: accountId, display_name: "test" }).execute();
  const jsonZstd = Buffer.alloc(jsonBytes / 4, "x");
  const segments = { sha256: Buffer.alloc(32, 1), jsonZstd, jsonBytes };
  const { id } = await db.transaction().execute(
    async (trx) =>
      await insertTranscript(trx, {
        accountId,
        metadata: metadataWith(),
        segments,
        kind: "IMPORTED",
      }),
  );
  return { id, jsonZstd, reader: { accountId, signal: new AbortController().signal } };
}

const limits = { nodeBytesMax: 1e9, reason: "ANSWERS_FULL", what: "answers" };

test("an account reads one long text at a time, at most 50 reads wait, and other accounts do not wait for them", async () => {
  const read = createReadTranscript({
    db,
    answers: new HeldBytes({ ...limits, accountBytesMax: 1e9 }),
  });
  const { id, reader, jsonZstd } = await addTranscript(4_000_000);
  const other = await addTranscript(400_000);
  // No text arrives before all reads have come.
  const held = Promise.withResolvers<void>();
  arrival = held.promise;
  let ended = 0;
  let refused = 0;
  const reads = Array.from({ length: 80 }, async () => {
    try {
      return await read(reader, id);
    } catch (error) {
      refused += 1;
      throw error;
    } finally {
      ended += 1;
    }
  });
  const settled = Promise.allSettled(reads);
  await until(async () => Promise.resolve(refused === 29));
  const their = read(other.reader, other.id);
  held.resolve();
  const theirs = await their;
  assert.ok(theirs?.segments.jsonZstd.equals(other.jsonZstd));
  const endedBefore = ended - refused;
  assert.ok(endedBefore < 40, `${endedBefore} of the one account's before the other's first`);
  const results = await settled;
  const found = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  assert.equal(found.length, 51);
  assert.equal(texts, 52, "refused texts are not read");
  assert.ok(found[0]?.segments.jsonZstd.equals(jsonZstd));
  for (const each of results) {
    if (each.status === "fulfilled") continue;
    const { reason } = each;
    assert.ok(reason instanceof ServiceError);
    assert.deepEqual(
      [reason.code, reason.reason, reason.retryAfterMs],
      ["resource_exhausted", "TRANSCRIPTS_BUSY", 1_000],
    );
  }
});

test("a long text is refused if the memory for the account's answers is used up; a short text is always read", async () => {
  const read = createReadTranscript({
    db,
    answers: new HeldBytes({ ...limits, accountBytesMax: 1e6 }),
  });
  const [long, short] = [await addTranscript(400_000), await addTranscript(4_000)];
  const before = texts;
  assert.equal((await read(long.reader, long.id))?.segments.jsonBytes, 400_000);
  await assert.rejects(read(long.reader, long.id, { heldPerByte: 3 }), { reason: "ANSWERS_FULL" });
  assert.equal(
    (await read(short.reader, short.id, { heldPerByte: 1_000 }))?.segments.jsonBytes,
    4_000,
  );
  assert.equal(await read(short.reader, long.id), undefined, "of another account");
  assert.equal(texts, before + 1);
});
