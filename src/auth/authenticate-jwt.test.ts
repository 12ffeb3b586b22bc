import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Database } from "../database/database.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { addAccount, addClientKey, type TestClientKey } from "../../test/fixtures/auth-fixture.ts";
import { jwtOf, refusedJwts, type JwtParties } from "../../test/fixtures/jwt-table.ts";
import { createAuthenticator, type Authenticator } from "./authenticate.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";

const publicUrl = "https://hlust.example";
/** The fixed clock of these tests, in seconds. */
const now = 1_800_000_000;

let database: Database;
let authenticator: Authenticator;
let accountId: string;
let rsa: TestClientKey;
let ec: TestClientKey;
let ed: TestClientKey;
/** A key of another account. */
let foreign: TestClientKey;

before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const log = createLog("silent");
  authenticator = createAuthenticator({
    db,
    publicUrl: () => publicUrl,
    now: () => now * 1000,
    log,
  });
  accountId = await addAccount(db);
  rsa = await addClientKey(db, accountId, "RS256");
  ec = await addClientKey(db, accountId, "ES256");
  ed = await addClientKey(db, accountId, "EdDSA");
  foreign = await addClientKey(db, await addAccount(db), "ES256");
});
after(() => database[Symbol.asyncDispose]());

const authenticate = (token: string) =>
  authenticator.authenticate(
    {
      headers: new Headers({ authorization: `Bearer ${token}` }),
      url: "/v2beta1/speech:recognize",
      origin: testOrigin,
    },
    Speech.method.recognize,
  );

const parties = (): JwtParties => ({
  rsa,
  ec,
  ed,
  foreign,
  publicUrl,
  elsewhere: "https://evil.example",
  now,
  slackSeconds: 0,
});
const token = (changes?: Parameters<typeof jwtOf>[1]) => jwtOf(parties(), changes);

describe("authenticate() accepts a JWT", () => {
  const rows: [string, () => string][] = [
    ["signed by RS256", () => token({ key: rsa })],
    ["signed by ES256", () => token({ key: ec })],
    ["signed by EdDSA", () => token({ key: ed })],
    ["without typ", () => token({ header: { typ: undefined } })],
    [
      "with an aud that is a list and contains the service",
      () => token({ claims: { aud: ["https://x", publicUrl] } }),
    ],
    ["with an aud that ends in a slash", () => token({ claims: { aud: `${publicUrl}/` } })],
    ["expired within the skew", () => token({ claims: { iat: now - 600, exp: now - 59 } })],
    [
      "issued in the future, within the skew",
      () => token({ claims: { iat: now + 60, exp: now + 600 } }),
    ],
    ["not before now, within the skew", () => token({ claims: { nbf: now + 60 } })],
    ["issued an hour ago", () => token({ claims: { iat: now - 3600, exp: now } })],
    ["with other claims", () => token({ claims: { jti: "1", scope: "account" } })],
    [
      "with a header that points to another key set",
      () => token({ header: { jku: "https://evil.example/keys" } }),
    ],
  ];
  for (const [name, make] of rows) {
    it(name, async () => {
      const made = make();
      const caller = await authenticate(made);
      assert.equal(caller.accountId, accountId);
      assert.deepEqual([...caller.scopes], ["speech"], "the scopes are the key's");
      assert.deepEqual(await authenticate(made), caller, "from the cache too");
    });
  }
});

describe("authenticate() with an invalid JWT", () => {
  it("refuses a JWT that is invalid in any way, always with the same message", async () => {
    const { message } = await refusal(authenticate("hlust_x"));
    for (const [name, make] of refusedJwts(parties())) {
      const refused = await refusal(authenticate(make()));
      assert.deepEqual(
        [refused.code, refused.reason, refused.message],
        ["unauthenticated", "TOKEN_INVALID", message],
        name,
      );
    }
  });

  it("refuses a JWT that is a megabyte long", async () => {
    const padding = "x".repeat(1_000_000);
    const { reason } = await refusal(authenticate(token({ claims: { padding } })));
    assert.equal(reason, "TOKEN_INVALID");
  });

  it("refuses a JWT that has expired since it was accepted", async () => {
    let ms = now * 1000;
    const { db } = database;
    const log = createLog("silent");
    const parts = { db, publicUrl: () => publicUrl, now: () => ms, log };
    const request = {
      headers: new Headers({ authorization: `Bearer ${token({ claims: { exp: now + 10 } })}` }),
      url: "/",
      origin: testOrigin,
    };
    const own = createAuthenticator(parts);
    await own.authenticate(request, Speech.method.recognize);
    ms += 69_999;
    await own.authenticate(request, Speech.method.recognize);
    ms += 1;
    await refusal(own.authenticate(request, Speech.method.recognize));
  });
});
