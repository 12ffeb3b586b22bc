import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { addAccount, addApiKey } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { testCaller, testOrigin } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { createAuthenticator } from "./authenticate.ts";
import { createRefusedAccess } from "./refused-access.ts";

const { recognize } = Speech.method;
const { listTranscripts, createTranscript } = Transcripts.method;

let database: Database;
before(async () => {
  database = await openTestDatabase();
});
after(() => database[Symbol.asyncDispose]());

test("a missing scope is recorded in the audit log once a minute for each method, without delaying any call", async () => {
  const { db, pool } = database;
  const accountId = await addAccount(db);
  const { id, token } = await addApiKey(db, accountId, ["speech"]);
  const headers = new Headers({ authorization: `Bearer ${token}` });
  let now = Date.now();
  const log = createLog("silent");
  const node = createAuthenticator({ db, publicUrl: () => "", now: () => now, log });
  const refuse = async (method: DescMethod) => {
    const answer = node.authenticate({ headers, url: "/", origin: testOrigin }, method);
    assert.equal((await refusal(answer)).reason, "SCOPE_MISSING");
  };
  const inTheWay = await pool.connect();
  await inTheWay.query("begin; lock audit_event");
  await refuse(listTranscripts);
  now += 59_999;
  await refuse(listTranscripts);
  await refuse(createTranscript);
  now += 1;
  await refuse(listTranscripts);
  await node.authenticate({ headers, url: "/", origin: testOrigin }, recognize);
  await inTheWay.query("rollback");
  inTheWay.release();
  const kept = async () =>
    await db
      .selectFrom("audit_event")
      .where("account_id", "=", accountId)
      .select(["actor", "action", "resource", "outcome", "address", "request_id", "details"])
      .orderBy("at")
      .execute();
  await until(async () => (await kept()).length === 3);
  const refused = (method: string, scope: string) => ({
    actor: `apiKeys/${id}`,
    action: "access.refused",
    resource: "",
    outcome: "REFUSED",
    address: testOrigin.address,
    request_id: testOrigin.requestId,
    details: { method: `hlust.transcripts.v1alpha1.Transcripts.${method}`, scope },
  });
  assert.deepEqual(await kept(), [
    refused("ListTranscripts", "transcripts.read"),
    refused("CreateTranscript", "transcripts.write"),
    refused("ListTranscripts", "transcripts.read"),
  ]);
});

test("a refusal that cannot be recorded is logged, and at most 2,000 refusals a minute are recorded", async () => {
  const lines: string[] = [];
  const log = pino({ base: null, messageKey: "event" }, { write: (line) => lines.push(line) });
  const pool = new pg.Pool();
  await pool.end();
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  let now = Date.now();
  const note = createRefusedAccess({ db, now: () => now, log });
  const noteNew = () => {
    note(testCaller(newId(), []), recognize, "speech");
  };
  for (let count = 0; count < 2_050; count += 1) noteNew();
  now += 60_000;
  noteNew();
  await until(async () => lines.length >= 2_001);
  assert.equal(lines.length, 2_001);
  assert.match(lines[0] ?? "", /"event":"auth.refusal_not_kept"/);
});
