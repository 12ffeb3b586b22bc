// What a restore changes in the rows of a backup: work in progress is queued again, and a copy does
// nothing outside.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql, type Kysely } from "kysely";
import type { Tables } from "../../src/database/tables.ts";
import { openArchive } from "../../src/media/open-archive.ts";
import { settleArchive } from "../../src/media/archive-identity.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { openSmallArchive, type SmallArchive } from "./small-archive.ts";

let archive: SmallArchive;
let backup: string;
const [job, webhook, delivery, upload, key] = [newId(), newId(), newId(), newId(), newId()];
const mail = newId();

before(async () => {
  archive = await openSmallArchive();
  const { db, store, accountId } = archive;
  await settleArchive({
    db,
    store,
    settings: archive.settingsOf("data"),
    log: createLog("silent"),
  });
  await sql`
    insert into transcript_job (id, account_id, state, metadata, media_uri, lease, tries, due_at)
    values (${job}, ${accountId}, 'PROCESSING', '{}', 'https://hlust.test/a.wav', 4, 2,
      now() + interval '10 seconds')`.execute(db);
  await sql`
    insert into transcript_job_piece (job_id, piece, start_ms, end_ms, segments)
    values (${job}, 0, 0, 1000, '[]')`.execute(db);
  await sql`
    insert into webhook (id, account_id, url, display_name, event_types, secret)
    values (${webhook}, ${accountId}, 'https://hlust.test/hook', '', '{}', ${Buffer.alloc(32, 7)})`.execute(
    db,
  );
  await sql`
    insert into webhook_delivery (id, webhook_id, event_type, body, lease, tries, due_at)
    values (${delivery}, ${webhook}, 'test', '{}', 3, 1, now() + interval '1 hour')`.execute(db);
  await sql`
    insert into invitation_mail (id, account_id, email, language, inviter, lease, tries, unnoted, due_at)
    values (${mail}, ${accountId}, 'anna@example.is', 'is', '', 2, 1, 1, now() + interval '1 hour')`.execute(
    db,
  );
  await sql`
    insert into upload (id, account_id, expires_at, size_bytes, received_bytes, holder, held_until)
    values (${upload}, ${accountId}, now() + interval '1 hour', 100, 50, ${newId()}, now())`.execute(
    db,
  );
  await sql`
    insert into api_key (id, account_id, display_name, scopes, secret_hash)
    values (${key}, ${accountId}, 'key', '{speech}', ${Buffer.alloc(32, 9)})`.execute(db);
  await sql`
    insert into session (id, account_id, api_key_id, secret_hash, rotated_at, created_at,
      last_used_at, expires_at, address, user_agent)
    values (${newId()}, ${accountId}, ${key}, ${Buffer.alloc(32)}, now(), now(), now(),
      now() + interval '1 day', '127.0.0.1', '')`.execute(db);
  backup = (await archive.backUp("backups")).folder;
});
after(() => archive[Symbol.asyncDispose]());

const one = async (db: Kysely<Tables>, query: ReturnType<typeof sql>) =>
  (await query.execute(db)).rows[0];

const markOf = (name: string): string => {
  const file = join(archive.folder, name, "media/hlust-archive");
  const mark: { id: string } = JSON.parse(readFileSync(file, "utf8"));
  return mark.id;
};

describe("a restored archive", () => {
  it("continues: jobs, messages and mail are due, uploads begin again, and people sign in again", async () => {
    const restored = await archive.restore(backup, "continued");
    assert.deepEqual([restored.jobs, restored.deliveries], [1, 1]);
    await using opened = await openArchive(archive.settingsOf("continued"));
    assert.deepEqual(opened.quarantine, []);
    const { db } = opened;
    const rows = [
      [
        sql`select lease, tries, due_at <= now() as due, state from transcript_job`,
        { lease: 5, tries: 1, due: true, state: "PROCESSING" },
      ],
      [sql`select piece from transcript_job_piece`, { piece: 0 }],
      [
        sql`select id, lease, due_at <= now() as due, give_up_at > now() as lives from webhook_delivery`,
        { id: delivery, lease: 4, due: true, lives: true },
      ],
      [sql`select disabled_at from webhook`, { disabled_at: null }],
      [
        sql`select id, state, lease, unnoted, due_at <= now() as due, give_up_at > now() as lives
          from invitation_mail`,
        { id: mail, state: "PENDING", lease: 3, unnoted: 1, due: true, lives: true },
      ],
      [
        sql`select received_bytes, size_bytes, holder from upload`,
        { received_bytes: "0", size_bytes: "100", holder: null },
      ],
      [sql`select secret_hash from api_key`, { secret_hash: Buffer.alloc(32, 9) }],
      [sql`select count(*)::int as sessions from session`, { sessions: 0 }],
      [sql`select count(*)::int as changes from resource_change`, { changes: 0 }],
    ] as const;
    for (const [query, expected] of rows) assert.deepEqual(await one(db, query), expected);
    assert.equal(markOf("continued"), markOf("data"));
    // The triggers work again.
    await sql`update transcript_job set progress_percent = 5`.execute(db);
    assert.deepEqual(await one(db, sql`select kind from resource_change`), { kind: "job" });
    await assert.rejects(
      sql`delete from account`
        .execute(db)
        .then(() =>
          sql`insert into audit_event
      values (gen_random_uuid(), gen_random_uuid(), now(), '', '', '', 'OK', '', '', '{}')`.execute(
            db,
          ),
        )
        .then(() => sql`delete from audit_event`.execute(db)),
      /the audit log only grows/,
    );
  });

  it("as a copy has another id, is in quarantine, and sends no webhooks and no mail", async () => {
    await archive.restore(backup, "copied", true);
    await using opened = await openArchive(archive.settingsOf("copied"));
    assert.match(opened.quarantine.join(), /it was put in quarantine/);
    assert.notEqual(markOf("copied"), markOf("data"));
    const waiting = sql`select state from invitation_mail`;
    assert.deepEqual(await one(opened.db, waiting), { state: "CANCELED" });
    const disabled = sql`
      select disabled_at is not null as disabled, disabled_reason as reason from webhook`;
    assert.deepEqual(await one(opened.db, disabled), {
      disabled: true,
      reason: "RESTORED_AS_COPY",
    });
  });

  it("that no service had named yet gets a name as a copy only, and is in quarantine", async () => {
    await using unnamed = await openSmallArchive();
    const { folder, manifest } = await unnamed.backUp("unnamed");
    assert.equal(manifest.archive, null);
    const copied = await unnamed.restore(folder, "unnamed-copy", true);
    {
      const settings = unnamed.settingsOf("unnamed-copy");
      await using opened = await openArchive(settings);
      assert.match(opened.quarantine.join(), /it was put in quarantine/);
      const { db, store } = opened;
      const { id } = await settleArchive({ db, store, settings, log: createLog("silent") });
      assert.equal(id, copied.archiveId);
      const media = await db.selectFrom("media").select("id").execute();
      assert.equal(media.length, 2);
    }
    const continued = await unnamed.restore(folder, "unnamed-continued");
    assert.equal(continued.archiveId, undefined);
    await using opened = await openArchive(unnamed.settingsOf("unnamed-continued"));
    assert.deepEqual(opened.quarantine, []);
  });

  it("without its media stays next to the media of its archive only", async () => {
    const { folder, manifest } = await archive.backUp("rows-only", { withMedia: false });
    assert.equal(manifest.media, null);
    await archive.restore(folder, "rows-only-restored");
    await using opened = await openArchive(archive.settingsOf("rows-only-restored"));
    const media = await opened.db.selectFrom("media").select("id").execute();
    assert.equal(media.length, 2);
    assert.deepEqual(await Array.fromAsync(opened.store.list()), []);
    assert.equal(markOf("rows-only-restored"), markOf("data"));
  });
});
