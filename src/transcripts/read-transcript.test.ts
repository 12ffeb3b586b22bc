import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { metadataWith } from "../../test/fixtures/open-test-transcripts.ts";
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
/** The test database, which counts the texts that are read. */
let db: Kysely<Tables>;
before(async () => {
  database = await openTestDatabase();
  db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: database.pool }),
    log: ({ query }) => {
      if (query.sql.startsWith('select "json_zstd"')) texts += 1;
    },
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
  let ended = 0;
  const reads = Array.from({ length: 80 }, async () => {
    const stored = await read(reader, id);
    ended += 1;
    return stored;
  });
  const settled = Promise.allSettled(reads);
  const theirs = await read(other.reader, other.id);
  assert.ok(theirs?.segments.jsonZstd.equals(other.jsonZstd));
  assert.ok(ended < 40, `${ended} of the one account's before the other's first`);
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
