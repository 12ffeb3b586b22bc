import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { openTestAccounts } from "../../test/fixtures/open-test-accounts.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import { createAuthenticator, type Authenticator } from "../auth/authenticate.ts";
import { addAccount, addApiKey, signJwt } from "../../test/fixtures/auth-fixture.ts";
import { callerKey, type Caller, type Scope } from "../auth/caller.ts";
import type { Database } from "../database/database.ts";
import {
  type Accounts,
  CreateApiKeyRequestSchema,
  CreateClientKeyRequestSchema,
  DeleteApiKeyRequestSchema,
  DeleteClientKeyRequestSchema,
  ListApiKeysRequestSchema,
  ListClientKeysRequestSchema,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { callBy, testCaller, testOrigin } from "../../test/fixtures/test-caller.ts";

const log = createLog("silent");
const publicUrl = "https://hlust.example";
const publicPem = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" });

let database: Database;
let accounts: ServiceImpl<typeof Accounts>;
let authenticator: Authenticator;
before(async () => {
  ({ database, accounts } = await openTestAccounts());
  authenticator = createAuthenticator({ db: database.db, publicUrl: () => publicUrl, log });
});
after(() => database[Symbol.asyncDispose]());

/** Creates a call with a key of a new account. */
async function newContext(...scopes: Scope[]): Promise<HandlerContext & { caller: Caller }> {
  return contextOf(await addAccount(database.db), scopes);
}

async function contextOf(accountId: string, scopes: Scope[]) {
  const { id: keyId } = await addApiKey(database.db, accountId, scopes);
  const own = {
    actor: `apiKeys/${keyId}`,
    credential: { kind: "api_key", id: keyId },
    keyId,
  } as const;
  const caller: Caller = { ...testCaller(accountId, scopes), ...own };
  return Object.assign(callBy(caller), { caller });
}

const all: Scope[] = ["transcripts.read", "transcripts.write", "speech", "account"];

const createApiKey = async (
  context: HandlerContext,
  request: MessageInitShape<typeof CreateApiKeyRequestSchema> = {},
) => accounts.createApiKey(create(CreateApiKeyRequestSchema, request), context);
const createClientKey = async (
  context: HandlerContext,
  request: MessageInitShape<typeof CreateClientKeyRequestSchema> = {},
) => accounts.createClientKey(create(CreateClientKeyRequestSchema, request), context);
const apiKeys = async (context: HandlerContext) =>
  (await accounts.listApiKeys(create(ListApiKeysRequestSchema), context)).apiKeys ?? [];
const clientKeys = async (context: HandlerContext) =>
  (await accounts.listClientKeys(create(ListClientKeysRequestSchema), context)).clientKeys ?? [];
const deleteApiKey = async (context: HandlerContext, name = "") =>
  accounts.deleteApiKey(create(DeleteApiKeyRequestSchema, { name }), context);
const deleteClientKey = async (context: HandlerContext, name = "") =>
  accounts.deleteClientKey(create(DeleteClientKeyRequestSchema, { name }), context);

const recognizeWith = (token = "") =>
  authenticator.authenticate(
    { headers: new Headers({ authorization: `Bearer ${token}` }), url: "/", origin: testOrigin },
    Speech.method.recognize,
  );

describe("createApiKey()", () => {
  it("creates a working key, with the default scopes, and never lists its secret", async () => {
    const context = await newContext(...all);
    const { apiKey, secret } = await createApiKey(context, { displayName: "Þjóðskjalasafn" });
    assert.match(apiKey?.name ?? "", /^apiKeys\/[0-9a-f-]{36}$/);
    assert.equal(apiKey?.displayName, "Þjóðskjalasafn");
    assert.deepEqual(apiKey?.scopes, ["transcripts.read", "transcripts.write", "speech"]);
    assert.equal(apiKey?.expireTime, undefined);
    const caller = await recognizeWith(secret);
    assert.equal(caller.accountId, context.caller.accountId);
    const [listed] = await apiKeys(context);
    assert.equal(listed?.name, apiKey?.name);
    assert.deepEqual(await storedTexts(secret?.slice(-43) ?? ""), []);
  });

  it("stores the given properties", async () => {
    const context = await newContext(...all);
    const expireTime = timestampFromDate(new Date(Date.now() + 86_400_000));
    const scopes = ["speech", "account", "speech"];
    const { apiKey } = await createApiKey(context, { scopes, expireTime });
    assert.deepEqual(apiKey?.scopes, ["speech", "account"]);
    const kept = apiKey?.expireTime?.seconds;
    assert.equal(kept, expireTime.seconds);
    assert.equal(apiKey?.creator, context.caller.actor);
    const publicKey = publicPem.toString();
    const client = await createClientKey(context, { publicKey, expireTime });
    assert.equal(client.expireTime?.seconds, expireTime.seconds);
    const [listedApiKey] = await apiKeys(context);
    const [listedClientKey] = await clientKeys(context);
    assert.equal(listedApiKey?.creator, context.caller.actor);
    assert.equal(listedClientKey?.expireTime?.seconds, expireTime.seconds);
  });

  it("reports all violations together, and creates nothing", async () => {
    const context = await newContext(...all);
    const { code, violations } = await refusal(
      createApiKey(context, {
        displayName: "\u0000".padEnd(201, "Þ"),
        scopes: ["speech", "root", ""],
        expireTime: timestampFromDate(new Date(Date.now() - 1)),
      }),
    );
    assert.equal(code, "invalid_argument");
    assert.deepEqual(
      violations.map(({ field }) => field),
      ["displayName", "displayName", "scopes[1]", "scopes[2]", "expireTime"],
    );
    assert.match(violations[2]?.description ?? "", /"root" is not one of transcripts.read,/);
    const late = { expireTime: { seconds: 1n << 62n, nanos: 0 } };
    assert.equal((await refusal(createApiKey(context, late))).code, "invalid_argument");
    assert.equal((await apiKeys(context)).length, 1, "only the caller's own");
  });

  it("accepts the longest name, counted in characters", async () => {
    const context = await newContext(...all);
    const displayName = "🎙".repeat(200);
    const { apiKey } = await createApiKey(context, { displayName });
    assert.equal(apiKey?.displayName, displayName);
  });

  it("grants no scope that the caller's key lacks, whether requested or by default", async () => {
    const context = await newContext("account", "speech");
    for (const scopes of [["transcripts.read", "speech"], []]) {
      const error = await refusal(createApiKey(context, { scopes }));
      assert.equal(error.code, "permission_denied");
      assert.match(error.message, /transcripts.read/);
      const publicKey = publicPem.toString();
      const clientError = await refusal(createClientKey(context, { scopes, publicKey }));
      assert.equal(clientError.code, "permission_denied");
    }
    await createApiKey(context, { scopes: ["speech"] });
  });

  it("refuses a key beyond the maximum number of keys of an account", async () => {
    const context = await newContext(...all);
    await database.pool.query(
      `insert into api_key (id, account_id, display_name, scopes, secret_hash)
       select gen_random_uuid(), $1, '', '{}', '' from generate_series(1, 998)`,
      [context.caller.accountId],
    );
    await createApiKey(context);
    assert.equal((await refusal(createApiKey(context))).code, "resource_exhausted");
  });

  it("creates the last allowed key only once, for any number of concurrent calls", async () => {
    const context = await newContext(...all);
    await database.pool.query(
      `insert into api_key (id, account_id, display_name, scopes, secret_hash)
       select gen_random_uuid(), $1, '', '{}', '' from generate_series(1, 997)`,
      [context.caller.accountId],
    );
    const asked = Array.from({ length: 8 }, async () => await createApiKey(context));
    const answers = await Promise.allSettled(asked);
    const reasons = answers.map((each) =>
      each.status === "rejected" ? String(each.reason.reason) : "OK",
    );
    const refused = Array.from({ length: 6 }, () => "TOO_MANY_KEYS");
    assert.deepEqual(reasons.toSorted(), ["OK", "OK", ...refused]);
    assert.equal((await apiKeys(context)).length, 1000);
  });

  it("requires an authenticated caller", async () => {
    const context = await newContext(...all);
    context.values.delete(callerKey);
    assert.equal((await refusal(createApiKey(context))).code, "unauthenticated");
  });
});

describe("createClientKey()", () => {
  it("registers a key whose JWTs work", async () => {
    const context = await newContext(...all);
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const made = await createClientKey(context, { displayName: "Phone", publicKey: pem });
    const { keyId: kid, clientId = "" } = made;
    assert.equal(made.name, `clientKeys/${kid}`);
    assert.equal(made.algorithm, "ES256");
    assert.equal(made.creator, context.caller.actor);
    assert.equal(made.expireTime, undefined);
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: clientId, sub: clientId, aud: publicUrl, iat, exp: iat + 60 };
    const caller = await recognizeWith(signJwt({ alg: "ES256", kid }, claims, privateKey));
    assert.equal(caller.accountId, context.caller.accountId);
    const [listed] = await clientKeys(context);
    assert.equal(listed?.clientId, clientId);
    assert.deepEqual(listed?.scopes, ["transcripts.read", "transcripts.write", "speech"]);
  });

  it("reports all violations together, without repeating any part of a private key", async () => {
    const context = await newContext(...all);
    const { privateKey } = generateKeyPairSync("ed25519");
    const publicKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const error = await refusal(
      createClientKey(context, {
        displayName: "x".repeat(201),
        scopes: ["all"],
        expireTime: timestampFromDate(new Date(Date.now() - 1)),
        publicKey,
      }),
    );
    assert.deepEqual(
      error.violations.map(({ field }) => field),
      ["displayName", "scopes[0]", "expireTime", "publicKey"],
    );
    assert.match(error.message, /is a private key/);
    assert.ok(!error.message.includes(publicKey.split("\n")[1] ?? ""));
    assert.deepEqual(await clientKeys(context), []);
  });
});

describe("listApiKeys()", () => {
  it("lists the account's keys, newest first, with their last use", async () => {
    const context = await newContext(...all);
    await newContext(...all); // a key of another account
    const { apiKey, secret } = await createApiKey(context);
    const second = await createApiKey(context);
    await recognizeWith(secret);
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    await until(async () => (await apiKeys(context))[1]?.lastUseTime !== undefined);
    const listed = await apiKeys(context);
    assert.deepEqual(
      listed.map(({ name }) => name),
      [second.apiKey?.name, apiKey?.name, `apiKeys/${context.caller.keyId}`],
    );
    assert.equal(listed[0]?.lastUseTime, undefined);
    const used = listed[1]?.lastUseTime;
    assert.ok(used?.seconds !== undefined && Number(used.seconds) * 1000 >= minute);
    assert.equal(Number(used.seconds) % 60, 0);
  });
});

describe("deleteApiKey() and deleteClientKey()", () => {
  it("invalidate the key", async () => {
    const context = await newContext(...all);
    const { apiKey, secret } = await createApiKey(context);
    await recognizeWith(secret);
    await deleteApiKey(context, apiKey?.name);
    assert.ok(!(await apiKeys(context)).some(({ name }) => name === apiKey?.name));
    const revokedAt = Date.now();
    let lastUseAt = revokedAt;
    const isGone = async () => {
      const at = Date.now();
      const isRefused = await recognizeWith(secret).then(
        () => false,
        () => true,
      );
      if (!isRefused) lastUseAt = at;
      return isRefused;
    };
    await until(isGone);
    assert.ok(lastUseAt - revokedAt < 1_000, `accepted for ${lastUseAt - revokedAt} ms`);
    const client = await createClientKey(context, { publicKey: publicPem.toString() });
    await deleteClientKey(context, client.name);
    assert.deepEqual(await clientKeys(context), []);
  });

  it("treat another account's key as nonexistent", async () => {
    const [mine, theirs] = [await newContext(...all), await newContext(...all)];
    const { apiKey } = await createApiKey(theirs);
    const client = await createClientKey(theirs, { publicKey: publicPem.toString() });
    const absent = newId();
    const messages = new Set<string>();
    for (const name of [apiKey?.name, client.name, `apiKeys/${absent}`, "apiKeys/x", "", absent]) {
      for (const remove of [deleteApiKey, deleteClientKey]) {
        const { code, message } = await refusal(remove(mine, name));
        assert.equal(code, "not_found", name);
        messages.add(message.replace(/".*"/, "<name>"));
      }
    }
    assert.deepEqual([...messages], ["there is no <name>"]);
    assert.equal((await apiKeys(theirs)).length, 2);
    assert.equal((await clientKeys(theirs)).length, 1);
  });
});

/** Returns the tables with a text column that contains `part`. */
async function storedTexts(part: string): Promise<string[]> {
  assert.ok(part.length > 20);
  const found: string[] = [];
  for (const table of ["account", "api_key", "client_key", "signing_key"]) {
    const { rows } = await database.pool.query(
      `select 1 from ${table} t where t::text like '%' || $1 || '%' or t::text like '%' || $2 || '%'`,
      [part, Buffer.from(part).toString("hex")],
    );
    if (rows.length > 0) found.push(table);
  }
  return found;
}
