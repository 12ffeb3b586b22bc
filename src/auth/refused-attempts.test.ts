import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { after, before, describe, it } from "node:test";
import { addAccount, addApiKey, addClientKey, signJwt } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { testCaller, testOrigin } from "../../test/fixtures/test-caller.ts";
import type { Database } from "../database/database.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { newApiKey } from "./api-key.ts";
import { createAuthenticator } from "./authenticate.ts";
import { createRefusedAttempts } from "./refused-attempts.ts";
import { createStreamToken } from "./stream-token.ts";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

function heapBytes(): number {
  assert.ok(typeof collect === "function");
  collect();
  return process.memoryUsage().heapUsed;
}

const bad = () => Promise.resolve(undefined);
const good = () => Promise.resolve("good");

describe("attempt()", () => {
  let now = 0;
  const open = (perMinute = 3) =>
    createRefusedAttempts(
      () => perMinute,
      () => now,
    );

  it("checks the refused tokens of a whole minute immediately, then one more token in each interval", async () => {
    const attempts = open();
    for (const n of [1, 2, 3])
      assert.equal(await attempts.attempt("192.0.2.1", `${n}`, bad), undefined);
    const error = await refusal(attempts.attempt("192.0.2.1", "4", good));
    assert.deepEqual([error.code, error.reason], ["resource_exhausted", "TOO_MANY_REFUSED"]);
    assert.equal(error.retryAfterMs, 20_000);
    now += 20_000;
    assert.equal(await attempts.attempt("192.0.2.1", "5", good), "good");
    assert.equal(await attempts.attempt("192.0.2.1", "6", bad), undefined);
    assert.equal((await refusal(attempts.attempt("192.0.2.1", "7", good))).retryAfterMs, 20_000);
    now += 60_000;
    for (const n of [1, 2, 3])
      assert.equal(await attempts.attempt("192.0.2.1", `${n}`, bad), undefined);
    await refusal(attempts.attempt("192.0.2.1", "4", good));
  });

  it("counts each address separately, but counts all addresses of an IPv6 /64 together", async () => {
    const attempts = open(1);
    await attempts.attempt("2001:db8::1", "a", bad);
    await refusal(attempts.attempt("2001:db8::ffff:2", "b", good));
    assert.equal(await attempts.attempt("2001:db8:0:1::1", "b", good), "good");
    await attempts.attempt("::ffff:192.0.2.1", "a", bad);
    await refusal(attempts.attempt("192.0.2.1", "b", good));
    assert.equal(await attempts.attempt("192.0.2.2", "b", good), "good");
  });

  it("counts neither valid tokens nor failed checks as attempts", async () => {
    const attempts = open(2);
    for (let n = 0; n < 10; n += 1) {
      await attempts.attempt("192.0.2.1", `${n}`, good);
      const failed = attempts.attempt("192.0.2.1", `${n}`, () =>
        Promise.reject(new Error("unavailable")),
      );
      await assert.rejects(failed, /unavailable/);
    }
    await attempts.attempt("192.0.2.1", "a", bad);
    await attempts.attempt("192.0.2.1", "b", bad);
    await refusal(attempts.attempt("192.0.2.1", "c", good));
  });

  it("counts tokens that are being checked as refused, but counts the same token only once", async () => {
    const attempts = open(2);
    const held = Promise.withResolvers<string>();
    const same = Array.from({ length: 50 }, () =>
      attempts.attempt("192.0.2.1", "a", () => held.promise),
    );
    const other = attempts.attempt("192.0.2.1", "b", () => held.promise);
    await refusal(attempts.attempt("192.0.2.1", "c", good));
    held.resolve("good");
    assert.deepEqual(
      await Promise.all([...same, other]),
      Array.from({ length: 51 }, () => "good"),
    );
    assert.equal(await attempts.attempt("192.0.2.1", "c", good), "good");
  });

  it("checks a refused token once if it arrives many times simultaneously, and counts each later arrival", async () => {
    const attempts = open(2);
    let checks = 0;
    for (const turn of [1, 2]) {
      const held = Promise.withResolvers<undefined>();
      const check = async () => {
        checks += 1;
        return await held.promise;
      };
      const same = Array.from({ length: 50 }, async () => {
        await attempts.attempt("192.0.2.1", "a", check);
      });
      held.resolve(undefined);
      await Promise.all(same);
      assert.equal(checks, turn);
    }
    await refusal(attempts.attempt("192.0.2.1", "a", good));
  });

  it("always checks tokens that were valid before, and limits them once they are refused", async () => {
    const attempts = open(2);
    await attempts.attempt("192.0.2.1", "a", bad);
    await attempts.attempt("192.0.2.1", "b", bad);
    assert.equal(await attempts.attempt("192.0.2.1", "key", good, true), "good");
    assert.equal(
      (await refusal(attempts.attempt("192.0.2.1", "key", bad, true))).reason,
      "TOO_MANY_REFUSED",
    );
    assert.equal(await attempts.attempt("192.0.2.2", "key", bad, true), undefined);
    assert.equal(await attempts.attempt("192.0.2.2", "other", bad), undefined);
    await refusal(attempts.attempt("192.0.2.2", "third", good));
  });

  it("remembers a bounded number of addresses", async (t) => {
    const attempts = open(1);
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    const first = heapBytes();
    for (let n = 0; n < 200_000; n += 1) await attempts.attempt(address(n), "a", bad);
    // Waits for everything that the last turn of the event loop still references.
    await new Promise(setImmediate);
    const mebibytes = (heapBytes() - first) / (1 << 20);
    t.diagnostic(`${mebibytes.toFixed(0)} MiB after 200 000 addresses`);
    assert.ok(mebibytes < 100, `${mebibytes.toFixed(0)} MiB`);
    assert.equal(await attempts.attempt(address(0), "b", bad), undefined, "forgotten");
    await refusal(attempts.attempt(address(199_999), "b", good));
  });
});

describe("authenticate() for an address with refused tokens", () => {
  const perMinute = 20;
  let database: Database;
  before(async () => {
    database = await openTestDatabase();
  });
  after(() => database[Symbol.asyncDispose]());

  it("reads no key and checks no signature for new tokens, while known tokens are accepted", async () => {
    let now = Date.now();
    let [reads, signatures] = [0, 0];
    const db = database.db.withPlugin({
      transformQuery: ({ node }) => {
        if (node.kind === "SelectQueryNode") reads += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const authenticator = createAuthenticator({
      db,
      // The URL is read once per signature check.
      publicUrl: () => {
        signatures += 1;
        return "https://hlust.example";
      },
      now: () => now,
      attempts: createRefusedAttempts(
        () => perMinute,
        () => now,
      ),
      log: createLog("silent"),
    });
    const call = async (token: string, address = testOrigin.address) => {
      const headers = new Headers({ authorization: `Bearer ${token}` });
      const facts = { headers, url: "/", origin: { ...testOrigin, address } };
      return await authenticator.authenticate(facts, Speech.method.recognize);
    };
    const accountId = await addAccount(database.db);
    const key = await addApiKey(database.db, accountId, ["speech"]);
    const client = await addClientKey(database.db, accountId, "ES256");
    const seconds = Math.floor(now / 1000);
    const jwt = (aud: string) =>
      signJwt(
        { alg: "ES256", kid: client.id },
        { iss: client.clientId, sub: client.clientId, aud, iat: seconds, exp: seconds + 600 },
        client.privateKey,
      );
    const goodJwt = jwt("https://hlust.example");
    await call(key.token);
    await call(goodJwt);

    [reads, signatures] = [0, 0];
    const flood = Array.from({ length: 500 }, (_, n) => [
      newApiKey().token,
      jwt(`https://${n}.example`),
      `a${n}`,
    ]).flat();
    const answers = await Promise.all(flood.map((token) => refusal(call(token))));
    const reasons = Object.groupBy(answers, ({ reason }) => reason);
    assert.equal(reasons["TOKEN_INVALID"]?.length, perMinute);
    assert.equal(reasons["TOO_MANY_REFUSED"]?.length, flood.length - perMinute);
    assert.ok(reads + signatures <= 2 * perMinute, `${reads} reads, ${signatures} signatures`);

    // A second later the cache has expired, so known tokens are read again.
    now += 1_000;
    await call(key.token);
    await call(goodJwt);
    const other = await addApiKey(database.db, accountId, ["speech"]);
    assert.equal((await refusal(call(other.token))).reason, "TOO_MANY_REFUSED", "not known yet");
    await call(other.token, "192.0.2.2");
    await call(other.token);
    // The id of the key is known, so the secrets of these tokens are still compared, with the
    // cached key.
    const guesses = Array.from(
      { length: 100 },
      () => key.token.slice(0, -43) + newApiKey().token.slice(-43),
    );
    reads = 0;
    for (const guess of guesses)
      assert.equal((await refusal(call(guess))).reason, "TOO_MANY_REFUSED");
    assert.ok(reads <= 1, `${reads} reads`);
    await database.db.deleteFrom("api_key").where("id", "=", key.id).execute();
    now += 1_000;
    await refusal(call(key.token));
  });

  it("does not check stream tokens, even one that was accepted for its socket", async () => {
    let reads = 0;
    const db = database.db.withPlugin({
      transformQuery: ({ node }) => {
        reads += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });
    const log = createLog("silent");
    const attempts = createRefusedAttempts(() => 1);
    const authenticator = createAuthenticator({ db, publicUrl: () => "", attempts, log });
    const open = async (token: string) => {
      const headers = new Headers({ authorization: `Bearer ${token}` });
      const facts = { headers, url: "/", origin: testOrigin, isWebSocket: true };
      return await authenticator.authenticate(facts, Speech.method.streamingRecognize);
    };
    const accountId = await addAccount(database.db);
    const { id } = await addApiKey(database.db, accountId, ["speech"]);
    const credential = { kind: "api_key", id } as const;
    const maker = { ...testCaller(accountId, ["speech"]), credential };
    const { token } = await createStreamToken({ db, log }, maker);
    await open(token);
    assert.equal((await refusal(open(token))).reason, "TOKEN_INVALID");
    reads = 0;
    assert.equal((await refusal(open(token))).reason, "TOO_MANY_REFUSED");
    assert.equal(reads, 0);
  });

  it("uses little memory for a valid JWT, however long it is", async (t) => {
    const log = createLog("silent");
    const attempts = createRefusedAttempts(() => perMinute);
    const publicUrl = () => "https://hlust.example";
    const { db } = database;
    const authenticator = createAuthenticator({ db, publicUrl, attempts, log });
    const accountId = await addAccount(db);
    const { id, clientId, privateKey } = await addClientKey(db, accountId, "ES256");
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: clientId, sub: clientId, aud: publicUrl(), iat, exp: iat + 600 };
    const call = async (n: number) => {
      const padding = `${n}`.padEnd(5_000, "x");
      const token = signJwt({ alg: "ES256", kid: id }, { ...claims, padding }, privateKey);
      const headers = new Headers({ authorization: `Bearer ${token}` });
      const facts = { headers, url: "/", origin: testOrigin };
      await authenticator.authenticate(facts, Speech.method.recognize);
    };
    await call(0);
    const first = heapBytes();
    for (let n = 1; n <= 2_000; n += 1) await call(n);
    await new Promise(setImmediate);
    const mebibytes = (heapBytes() - first) / (1 << 20);
    t.diagnostic(`${mebibytes.toFixed(1)} MiB after 2,000 JWTs of 7 kB`);
    assert.ok(mebibytes < 5, `${mebibytes.toFixed(1)} MiB`);
  });
});
