import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Database } from "../database/database.ts";
import { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { createLog } from "../std/log.ts";
import {
  addAccount,
  addApiKey,
  addClientKey,
  signJwt,
  type TestClientKey,
} from "../../test/fixtures/auth-fixture.ts";
import { createAuthenticator, type Authenticator } from "./authenticate.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";

const { recognize } = Speech.method;
const { listTranscripts, createTranscript } = Transcripts.method;

let database: Database;
let authenticator: Authenticator;
let accountId: string;
/** A key with every scope except `account`. */
let key: { id: string; token: string };
let otherKey: { id: string; token: string };
/** The clock of the authenticators; tests advance it. */
let now = Date.parse("2026-11-20T12:00:30.500Z");

before(async () => {
  database = await openTestDatabase();
  accountId = await addAccount(database.db);
  key = await addApiKey(database.db, accountId, [
    "transcripts.read",
    "transcripts.write",
    "speech",
  ]);
  otherKey = await addApiKey(database.db, accountId, ["speech"]);
  authenticator = newAuthenticator();
});
after(() => database[Symbol.asyncDispose]());

function newAuthenticator(): Authenticator {
  const log = createLog("silent");
  const publicUrl = () => "https://hlust.example";
  return createAuthenticator({ db: database.db, publicUrl, now: () => now, log });
}

interface Call {
  readonly authorization?: string;
  readonly subprotocol?: string;
  readonly googApiKey?: string;
  readonly url?: string;
}

function authenticate(call: Call, method: DescMethod = recognize, by = authenticator) {
  const headers = new Headers();
  if (call.authorization !== undefined) headers.set("authorization", call.authorization);
  if (call.subprotocol !== undefined) headers.set("sec-websocket-protocol", call.subprotocol);
  if (call.googApiKey !== undefined) headers.set("x-goog-api-key", call.googApiKey);
  return by.authenticate({ headers, url: call.url ?? "/", origin: testOrigin }, method);
}

/** Returns a JWT that is valid for a minute. */
function jwtOf({ id, clientId, privateKey }: TestClientKey): string {
  const iat = Math.floor(now / 1000);
  const claims = { iss: clientId, sub: clientId, aud: "https://hlust.example", iat, exp: iat + 60 };
  return signJwt({ alg: "ES256", kid: id }, claims, privateKey);
}

describe("authenticate() finds the token", () => {
  const rows: [string, (token: string) => Call, DescMethod?][] = [
    ["in the header", (token) => ({ authorization: `Bearer ${token}` })],
    [
      "in the header, with the scheme in any letter case",
      (token) => ({ authorization: `bEARER   ${token} ` }),
    ],
    [
      "in the header next to another scheme",
      (token) => ({ authorization: `Basic eDp5, Bearer ${token}` }),
    ],
    [
      "in the header of a method without ?token=",
      (token) => ({ authorization: `Bearer ${token}` }),
      listTranscripts,
    ],
    ["where Google's clients put a key", (token) => ({ googApiKey: token })],
    [
      "where Google's clients put a key, on every interface",
      (token) => ({ googApiKey: ` ${token},` }),
      listTranscripts,
    ],
    [
      "twice, in the header and where Google's clients put a key",
      (token) => ({ authorization: `Bearer ${token}`, googApiKey: `${token}, ${token}` }),
    ],
    ["in the query", (token) => ({ url: `/v2beta1/speech:recognize?token=${token}` })],
    ["in the query among other parameters", (token) => ({ url: `/a?b=c&token=${token}&d` })],
    [
      "in the query, percent-encoded",
      (token) => ({ url: `/?%74oken=${token.replaceAll("_", "%5F")}` }),
    ],
    ["in the subprotocols", (token) => ({ subprotocol: `Bearer, ${token}` })],
    ["in the subprotocols, among others", (token) => ({ subprotocol: `chat,bearer,${token}` })],
    [
      "twice, in the header and in the query",
      (token) => ({ authorization: `Bearer ${token}`, url: `/?token=${token}` }),
    ],
    ["next to an empty one", (token) => ({ authorization: `Bearer ${token}`, url: "/?token=" })],
    [
      "in the header of a method that ignores ?token=",
      (token) => ({ authorization: `Bearer ${token}`, url: "/?token=other" }),
      listTranscripts,
    ],
  ];
  for (const [name, call, method] of rows) {
    it(name, async () => {
      const caller = await authenticate(call(key.token), method);
      assert.deepEqual([caller.accountId, caller.actor], [accountId, `apiKeys/${key.id}`]);
      assert.deepEqual([...caller.scopes], ["transcripts.read", "transcripts.write", "speech"]);
    });
  }
});

describe("authenticate() refuses", () => {
  type Row = [string, () => Call, string, DescMethod?];
  const rows: Row[] = [
    ["no token", () => ({}), "TOKEN_MISSING"],
    ["an empty header", () => ({ authorization: "Bearer " }), "TOKEN_MISSING"],
    ["another scheme", () => ({ authorization: `Basic ${key.token}` }), "TOKEN_MISSING"],
    ["a token without scheme", () => ({ authorization: key.token }), "TOKEN_MISSING"],
    [
      "a token in a query that the method ignores",
      () => ({ url: `/?token=${key.token}` }),
      "TOKEN_MISSING",
      listTranscripts,
    ],
    [
      "a token in subprotocols that the method ignores",
      () => ({ subprotocol: `Bearer, ${key.token}` }),
      "TOKEN_MISSING",
      listTranscripts,
    ],
    ["a subprotocol without Bearer", () => ({ subprotocol: key.token }), "TOKEN_MISSING"],
    ["Bearer without a token", () => ({ subprotocol: "Bearer" }), "TOKEN_MISSING"],
    [
      "a scheme where Google's clients put a bare key",
      () => ({ googApiKey: "Bearer x" }),
      "TOKEN_INVALID",
    ],
    ["no key where Google's clients put one", () => ({ googApiKey: " , " }), "TOKEN_MISSING"],
    ["a malformed key", () => ({ authorization: "Bearer hlust_x_y" }), "TOKEN_INVALID"],
    [
      "an unknown key",
      () => ({ authorization: `Bearer hlust_${"0".repeat(32)}_${"A".repeat(43)}` }),
      "TOKEN_INVALID",
    ],
    [
      "a known key with the secret of another",
      () => ({ authorization: `Bearer ${key.token.slice(0, 38)}${otherKey.token.slice(38)}` }),
      "TOKEN_INVALID",
    ],
    ["words after the token", () => ({ authorization: `Bearer ${key.token} x` }), "TOKEN_INVALID"],
  ];
  for (const [name, call, reason, method] of rows) {
    it(name, async () => {
      const error = await refusal(authenticate(call(), method));
      assert.deepEqual([error.code, error.reason], ["unauthenticated", reason]);
      assert.equal(error.message, (await refusal(authenticate({}))).message, "one message for all");
    });
  }

  const twoTokens: [string, () => Call][] = [
    [
      "in header and query",
      () => ({ authorization: `Bearer ${key.token}`, url: `/?token=${otherKey.token}` }),
    ],
    [
      "in header and subprotocol",
      () => ({ authorization: `Bearer ${key.token}`, subprotocol: `Bearer, ${otherKey.token}` }),
    ],
    ["in two headers", () => ({ authorization: `Bearer ${key.token}, Bearer ${otherKey.token}` })],
    [
      "in the header and where Google's clients put a key",
      () => ({ authorization: `Bearer ${key.token}`, googApiKey: otherKey.token }),
    ],
    ["twice in Google's header", () => ({ googApiKey: `${key.token}, ${otherKey.token}` })],
    ["in one query", () => ({ url: `/?token=${key.token}&token=${otherKey.token}` })],
  ];
  for (const [name, call] of twoTokens) {
    it(`two different tokens ${name}`, async () => {
      const { code, reason } = await refusal(authenticate(call()));
      assert.deepEqual([code, reason], ["invalid_argument", "SEVERAL_TOKENS"]);
    });
  }

  it("a key without the scope, and names the scope", async () => {
    const call = { authorization: `Bearer ${otherKey.token}` };
    for (const [method, scope] of [
      [listTranscripts, "transcripts.read"],
      [createTranscript, "transcripts.write"],
      [Accounts.method.createApiKey, "account"],
    ] as const) {
      const error = await refusal(authenticate(call, method));
      assert.equal(error.code, "permission_denied");
      assert.equal(error.metadata["scope"], scope);
      assert.match(error.message, new RegExp(`lacks the scope ${scope}$`));
    }
  });

  it("every call of a method without the access option", async () => {
    const silent: DescMethod = { ...recognize, proto: { ...recognize.proto, options: undefined } };
    await assert.rejects(
      authenticate({ authorization: `Bearer ${key.token}` }, silent),
      /hlust.speech.v2beta1.Speech.Recognize has no option hlust.api.access/,
    );
  });
});

describe("authenticate() with a key", () => {
  it("accepts a key until it expires, to the millisecond", async () => {
    const expiresAt = new Date(now + 10_000);
    const { token } = await addApiKey(database.db, accountId, ["speech"], expiresAt);
    const call = { authorization: `Bearer ${token}` };
    now = expiresAt.getTime() - 1;
    await authenticate(call);
    now = expiresAt.getTime();
    assert.equal((await refusal(authenticate(call))).reason, "TOKEN_INVALID");
  });

  it("accepts a JWT until its client key expires, to the millisecond, whatever the JWT states", async () => {
    const clientKey = await addClientKey(database.db, accountId, "ES256");
    const expiresAt = new Date(now + 10_000);
    await database.db
      .updateTable("client_key")
      .set({ expires_at: expiresAt })
      .where("id", "=", clientKey.id)
      .execute();
    const call = { authorization: `Bearer ${jwtOf(clientKey)}` };
    now = expiresAt.getTime() - 1;
    await authenticate(call);
    now = expiresAt.getTime();
    assert.equal((await refusal(authenticate(call))).reason, "TOKEN_INVALID");
  });

  it("accepts a key until half a second after its account is disabled, and again once the account is enabled", async () => {
    const ownId = await addAccount(database.db);
    const apiKey = await addApiKey(database.db, ownId, ["speech"]);
    const clientKey = await addClientKey(database.db, ownId, "ES256");
    const calls = [apiKey.token, jwtOf(clientKey)].map((token) => ({
      authorization: `Bearer ${token}`,
    }));
    const setDisabled = async (at: Date | null) =>
      await database.db
        .updateTable("account")
        .set({ disabled_at: at })
        .where("id", "=", ownId)
        .execute();
    for (const call of calls) await authenticate(call);
    await setDisabled(new Date(now));
    now += 500;
    for (const call of calls) {
      assert.equal((await refusal(authenticate(call))).reason, "TOKEN_INVALID");
    }
    await authenticate({ authorization: `Bearer ${key.token}` }); // a key of another account
    await setDisabled(null);
    now += 500;
    for (const call of calls) await authenticate(call);
  });

  it("accepts a key until half a second after it is revoked, on every node, with one read every half second", async () => {
    const apiKey = await addApiKey(database.db, accountId, ["speech"]);
    const clientKey = await addClientKey(database.db, accountId, "ES256");
    const { id } = clientKey;
    const tokens = [apiKey.token, jwtOf(clientKey)];
    const calls = tokens.map((token) => ({ authorization: `Bearer ${token}` }));
    const nodes = [newAuthenticator(), newAuthenticator()];
    const all = nodes.flatMap((node) =>
      calls.map((call) => () => authenticate(call, recognize, node)),
    );
    for (const ask of all) await ask();
    await database.db.deleteFrom("api_key").where("id", "=", apiKey.id).execute();
    await database.db.deleteFrom("client_key").where("id", "=", id).execute();
    now += 499;
    for (const ask of all) await ask();
    now += 1;
    for (const ask of all) assert.equal((await refusal(ask())).reason, "TOKEN_INVALID");
  });

  it("accepts a key half a second after its creation, even if it was refused before", async () => {
    const made = await addApiKey(database.db, accountId, ["speech"]);
    const row = await database.db
      .deleteFrom("api_key")
      .where("id", "=", made.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const call = { authorization: `Bearer ${made.token}` };
    await refusal(authenticate(call));
    await database.db
      .insertInto("api_key")
      .values({ ...row, limits: JSON.stringify(row.limits) })
      .execute();
    now += 500;
    await authenticate(call);
  });

  it("records the use of a key to the minute, with one statement per minute", async () => {
    const made = await addApiKey(database.db, accountId, ["speech"]);
    const call = { authorization: `Bearer ${made.token}` };
    await database.pool.query(`
      create table noted (at timestamptz);
      create function note() returns trigger language plpgsql as
        'begin insert into noted values (new.last_used_at); return null; end';
      create trigger noted after update on api_key for each row
        when (new.id = '${made.id}') execute function note()`);
    const noted = async () => {
      const { rows } = await database.pool.query<{ at: Date }>("select at from noted order by at");
      return rows.map(({ at }) => at.toISOString());
    };
    const start = Date.parse("2026-11-20T13:07:01Z");
    for (const ms of [0, 200, 700, 30_000, 58_999]) {
      now = start + ms;
      await authenticate(call);
      // Calls do not wait for the write. If the key were read again before the write, its use would
      // be written twice.
      await until(async () => (await noted()).length > 0);
    }
    await authenticate(call, recognize, newAuthenticator()); // another node, in the same minute
    now = start + 59_000;
    await authenticate(call);
    await until(async () => (await noted()).length > 1);
    assert.deepEqual(await noted(), ["2026-11-20T13:07:00.000Z", "2026-11-20T13:08:00.000Z"]);
  });
});
