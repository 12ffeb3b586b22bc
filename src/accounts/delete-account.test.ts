import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addAccount, addApiKey, addClientKey } from "../../test/fixtures/auth-fixture.ts";
import {
  jobRequest,
  openJobs,
  serveMedia,
  toneRecognizer,
  toneWav,
  type JobsFixture,
} from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { sweepMedia } from "../media/sweep-media.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { deleteAccount } from "./delete-account.ts";

const log = createLog("silent");
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let jobs: JobsFixture;
let media: Awaited<ReturnType<typeof serveMedia>>;
before(async () => {
  database = await openTestDatabase();
  jobs = await openJobs(database, database.folder);
  media = await serveMedia((_request, response) => response.end(toneWav([1, 2, 3])));
});
after(async () => {
  await media[Symbol.asyncDispose]();
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** A statement that inserts data of an account into the tables that jobs do not fill. */
const filling = `
  insert into member (id, account_id, email, display_name, role) select gen_random_uuid(), $1, n || '@x.is', '', 'OWNER'
    from generate_series(1, 3) n;
  insert into upload (id, account_id, expires_at, media_id) select gen_random_uuid(), $1, now(), $2 from generate_series(1, 501);
  insert into webhook (id, account_id, url, display_name, event_types, secret)
    values ($3, $1, 'https://x.is', '', '{}', '');
  insert into webhook_delivery (id, webhook_id, event_type, body)
    select gen_random_uuid(), $3, 'webhook.test', '' from generate_series(1, 600);
  insert into vocabulary (account_id, revision) values ($1, 1);
  insert into vocabulary_phrase (id, account_id, language_code, phrase, folded, weight, sounds_like, source, state)
    select gen_random_uuid(), $1, 'is-IS', n::text, n::text, 10, '{}', 'USER', 'ACTIVE' from generate_series(1, 501) n;
  insert into transcript (id, account_id, version_id, metadata, subject, keywords, media_id)
    select gen_random_uuid(), $1, gen_random_uuid(), '{}', '', '{}', $2 from generate_series(1, 501);
  insert into transcript_segments (transcript_id, sha256, json_zstd, json_bytes) select id, '', '', 0 from transcript
    where account_id = $1;
  insert into transcript_version (id, transcript_id, metadata, segments_sha256) select version_id, id, '{}', '' from transcript
    where account_id = $1;
  insert into transcript_job (id, account_id, state, metadata, media_id)
    select gen_random_uuid(), $1, 'ERROR', '{}', $2 from generate_series(1, 600);
  insert into alignment_job (id, account_id, transcript_id, version_id, turn)
    select gen_random_uuid(), $1, $1, $1, 0 from generate_series(1, 501);
  insert into transcript (id, bin_account_id, binned_at, binned_by, version_id, metadata, subject, keywords, media_id)
    select gen_random_uuid(), $1, now(), '', gen_random_uuid(), '{}', '', '{}', $2 from generate_series(1, 501)`;

async function fill(accountId: string): Promise<string> {
  const mediaId = await jobs.addMedia(accountId, Buffer.from("a recording"));
  await addApiKey(database.db, accountId, ["account"]);
  await addClientKey(database.db, accountId, "ES256");
  const names = [`'${accountId}'::uuid`, `'${mediaId}'::uuid`, `'${newId()}'::uuid`];
  await database.pool.query(filling.replaceAll(/\$(\d)/g, (_all, n) => names[Number(n) - 1] ?? ""));
  return mediaId;
}

/** Returns the number of rows of each table, except the tables of the queue itself. */
async function rowCounts(): Promise<Record<string, number>> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema = 'public' order by name`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await database.pool.query(`select count(*)::int as count from ${name}`);
    counts[name] = rows[0]?.count ?? -1;
  }
  return counts;
}

test("deleteAccount() deletes all data of an account except its audit log, and nothing of another account", async () => {
  const { db } = database;
  const [accountId, otherId] = [await addAccount(db), await addAccount(db)];
  await fill(otherId);
  const { token } = await addApiKey(db, otherId, ["speech"]);
  const before = await rowCounts();
  const mediaId = await fill(accountId);
  assert.equal(await deleteAccount({ db, log }, accountId), true);
  const counts = await rowCounts();
  assert.deepEqual(counts, {
    ...before,
    "public.account": (before["public.account"] ?? 0) - 1,
    "public.audit_event": (before["public.audit_event"] ?? 0) + 1,
  });
  const event = await db.selectFrom("audit_event").selectAll().executeTakeFirstOrThrow();
  const { actor, action, resource, address } = event;
  assert.deepEqual(
    [event.account_id, actor, action, resource, address],
    [accountId, "operator", "account.delete", `accounts/${accountId}`, ""],
  );
  const authenticator = createAuthenticator({ db, publicUrl: () => "", log });
  const headers = new Headers({ authorization: `Bearer ${token}` });
  const call = { headers, url: "/", origin: testOrigin };
  assert.equal(
    (await authenticator.authenticate(call, Speech.method.recognize)).accountId,
    otherId,
  );
  const inAnHour = () => Date.now() + 3_600_000;
  await sweepMedia({ db, store: jobs.store, log, now: inAnHour });
  assert.equal(await jobs.store.sizeBytes(mediaId), undefined);
  assert.equal(await deleteAccount({ db, log }, accountId), false, "again");
  assert.equal(await deleteAccount({ db, log }, newId()), false, "no such account");
});

test("deleteAccount() deletes in statements that stay within the time limit", async () => {
  const { db, pool } = database;
  const accountId = await addAccount(db);
  await fill(accountId);
  await pool.query(`create function refuse_many() returns trigger language plpgsql as $$ begin
    if (select count(*) from gone) > 500 then raise exception 'too many of % at once', tg_table_name; end if;
    return null; end $$`);
  const tables = ["transcript", "transcript_job", "upload", "media", "webhook_delivery"];
  for (const table of tables) {
    await pool.query(`create trigger refuse_many after delete on ${table}
      referencing old table as gone for each statement execute function refuse_many()`);
  }
  assert.equal(await deleteAccount({ db, log }, accountId), true);
  await pool.query("drop function refuse_many cascade");
});

test("deleteAccount() stops running jobs, and their worker continues with other jobs", async () => {
  const { db } = database;
  const [accountId, otherId] = [await addAccount(db), await addAccount(db)];
  const begun = Promise.withResolvers<void>();
  const signals: (AbortSignal | undefined)[] = [];
  const endless = toneRecognizer({
    pieceMs: 600_000,
    onPiece: () => {
      begun.resolve();
    },
  });
  const usual = toneRecognizer();
  await using _worker = await jobs.openWorker({
    ...usual,
    recognize(input, options) {
      signals.push(options.signal);
      return (signals.length === 1 ? endless : usual).recognize(input, options);
    },
  });
  await jobs.submit(accountId, jobRequest(media.url));
  await begun.promise;
  assert.equal(await deleteAccount({ db, log }, accountId), true);
  await until(async () => signals[0]?.aborted === true);
  const name = await jobs.submit(otherId, jobRequest(media.url));
  assert.ok((await jobs.ended(otherId, name)).transcript, "SUCCESS");
  const kept = await db.selectFrom("transcript").select("account_id").distinct().execute();
  assert.ok(!kept.some((row) => row.account_id === accountId));
});
