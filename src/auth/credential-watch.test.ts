import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import { addAccount, addApiKey, addClientKey } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { addSignedIn } from "../../test/fixtures/signed-in.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { createLog } from "../std/log.ts";
import type { ServiceError } from "../std/service-error.ts";
import type { Credential } from "./caller.ts";
import { CredentialWatch } from "./credential-watch.ts";
import { createSessions } from "./sessions.ts";

let database: Database;
/** The database; its statements are counted. */
let db: Kysely<Tables>;
let statements = 0;

const countStatement = (): void => {
  statements += 1;
};

before(async () => {
  database = await openTestDatabase();
  const dialect = new PostgresDialect({ pool: database.pool });
  db = new Kysely<Tables>({ dialect, log: countStatement });
});
after(() => database[Symbol.asyncDispose]());

const log = createLog("silent");
const query = (text: string) => database.pool.query(text);

/** A row of the test: a credential and the statement that revokes it. */
type Row = readonly [name: string, make: () => Promise<[Credential, revoke: string]>];

async function apiKey(): Promise<{ accountId: string; id: string }> {
  const accountId = await addAccount(database.db);
  const { id } = await addApiKey(database.db, accountId, ["speech"]);
  return { accountId, id };
}

async function session(by: "member" | "key") {
  const accountId = await addAccount(database.db);
  if (by === "member")
    return { accountId, ...(await addSignedIn(database.db, accountId, "MEMBER")) };
  const { id } = await addApiKey(database.db, accountId, ["speech"]);
  const owner = { accountId, apiKeyId: id };
  const visit = { origin: testOrigin, userAgent: "test", before: undefined };
  const opened = await createSessions({ db: database.db, log }).open(owner, "api_key", visit);
  return { accountId, memberId: id, sessionId: opened.session.id };
}

const ends: readonly Row[] = [
  [
    "an API key that is deleted",
    async () => {
      const { id } = await apiKey();
      return [{ kind: "api_key", id }, `delete from api_key where id = '${id}'`];
    },
  ],
  [
    "an API key that expires",
    async () => {
      const { id } = await apiKey();
      return [{ kind: "api_key", id }, `update api_key set expires_at = now() where id = '${id}'`];
    },
  ],
  [
    "an API key whose account is disabled",
    async () => {
      const { id, accountId } = await apiKey();
      return [
        { kind: "api_key", id },
        `update account set disabled_at = now() where id = '${accountId}'`,
      ];
    },
  ],
  [
    "a client key that is deleted",
    async () => {
      const { id } = await addClientKey(database.db, await addAccount(database.db), "EdDSA");
      return [{ kind: "client_key", id }, `delete from client_key where id = '${id}'`];
    },
  ],
  [
    "a client key that expires",
    async () => {
      const { id } = await addClientKey(database.db, await addAccount(database.db), "EdDSA");
      return [
        { kind: "client_key", id },
        `update client_key set expires_at = now() where id = '${id}'`,
      ];
    },
  ],
  [
    "a session that is ended",
    async () => {
      const { sessionId: id } = await session("member");
      return [{ kind: "session", id }, `delete from session where id = '${id}'`];
    },
  ],
  [
    "a session that has expired",
    async () => {
      const { sessionId: id } = await session("member");
      return [{ kind: "session", id }, `update session set expires_at = now() where id = '${id}'`];
    },
  ],
  [
    "a session without a call for 12 hours",
    async () => {
      const { sessionId: id } = await session("member");
      const idle = "last_used_at = now() - interval '12 hours'";
      return [{ kind: "session", id }, `update session set ${idle} where id = '${id}'`];
    },
  ],
  [
    "a session whose member is removed",
    async () => {
      const { sessionId: id, memberId } = await session("member");
      return [{ kind: "session", id }, `delete from member where id = '${memberId}'`];
    },
  ],
  [
    "a session whose member loses the scope speech",
    async () => {
      const { sessionId: id, memberId } = await session("member");
      return [
        { kind: "session", id },
        `update member set role = 'VIEWER' where id = '${memberId}'`,
      ];
    },
  ],
  [
    "a session whose account is disabled",
    async () => {
      const { sessionId: id, accountId } = await session("member");
      return [
        { kind: "session", id },
        `update account set disabled_at = now() where id = '${accountId}'`,
      ];
    },
  ],
  [
    "a session whose API key is deleted",
    async () => {
      const { sessionId: id, memberId: keyId } = await session("key");
      return [{ kind: "session", id }, `delete from api_key where id = '${keyId}'`];
    },
  ],
  [
    "a session whose API key expires",
    async () => {
      const { sessionId: id, memberId: keyId } = await session("key");
      return [
        { kind: "session", id },
        `update api_key set expires_at = now() where id = '${keyId}'`,
      ];
    },
  ],
];

describe("CredentialWatch", () => {
  it("ends the streams of all revoked credentials with one statement, and ends no other streams", async () => {
    const watch = new CredentialWatch(db, log);
    const made = await Promise.all(
      ends.map(async ([name, make]) => ({ name, credential: await make() })),
    );
    const ended: string[] = [];
    const reasons: ServiceError[] = [];
    const add = (name: string, credential: Credential, scope = "speech") =>
      watch.add({
        credential,
        scope,
        end(reason) {
          ended.push(name);
          reasons.push(reason);
        },
      });
    const open = made.flatMap(({ name, credential: [credential] }) => [
      add(name, credential),
      add(name, credential),
    ]);
    const others = await Promise.all(
      ends.map(async ([name, make]) => add(`another: ${name}`, (await make())[0])),
    );
    const silent = { kind: "api_key", id: (await apiKey()).id } as const;
    others.push(add("without a scope", silent, ""));
    // All credentials are valid at the first check.
    statements = 0;
    await until(() => Promise.resolve(statements > 0));
    await until(async () => (await query("select 1")).rowCount === 1);
    assert.deepEqual(ended, []);
    for (const {
      credential: [, revoke],
    } of made)
      await query(revoke);
    const before = statements;
    const names = ends.flatMap(([name]) => [name, name]);
    await until(() => Promise.resolve(ended.length === names.length));
    const inOrder = (list: string[]) => list.toSorted((a, b) => a.localeCompare(b));
    assert.deepEqual(inOrder(ended), inOrder(names));
    assert.ok(
      statements - before <= 2,
      "one for all streams; the previous one may have been in flight",
    );
    for (const { code, reason } of reasons) {
      assert.deepEqual([code, reason], ["unauthenticated", "TOKEN_INVALID"]);
    }
    for (const each of [...open, ...others]) each[Symbol.dispose]();
  });

  it("sends no statement while no stream is open", async () => {
    const { id } = await apiKey();
    const credential = { kind: "api_key", id } as const;
    const stream = { credential, scope: "", end: () => assert.fail("the key is valid") };
    statements = 0;
    const watch = new CredentialWatch(db, log);
    const [one, other] = [watch.add(stream), watch.add({ ...stream })];
    one[Symbol.dispose]();
    other[Symbol.dispose]();
    let statementsOfAnother = 0;
    const dialect = new PostgresDialect({ pool: database.pool });
    const countOther = (): void => {
      statementsOfAnother += 1;
    };
    const anotherDb = new Kysely<Tables>({ dialect, log: countOther });
    using _open = new CredentialWatch(anotherDb, log).add(stream);
    await until(() => Promise.resolve(statementsOfAnother === 1));
    assert.equal(statements, 0);
  });

  it("ends no stream while the database is unavailable", async () => {
    const { id } = await apiKey();
    let asked = 0;
    const unavailable = new Kysely<Tables>({
      dialect: new PostgresDialect({
        pool: async () => {
          asked += 1;
          if (asked < 3) throw new Error("unavailable");
          return database.pool;
        },
      }),
    });
    const watch = new CredentialWatch(unavailable, log);
    let isEnded = false;
    using _stream = watch.add({
      credential: { kind: "api_key", id },
      scope: "speech",
      end: () => (isEnded = true),
    });
    await until(() => Promise.resolve(asked === 2));
    assert.equal(isEnded, false);
    await query(`delete from api_key where id = '${id}'`);
    await until(() => Promise.resolve(isEnded));
  });
});
