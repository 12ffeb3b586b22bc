import assert from "node:assert/strict";
import { roles, scopes, scopesOfRole, type Scope } from "../../src/auth/caller.ts";
import { createSessions } from "../../src/auth/sessions.ts";
import { createLog } from "../../src/std/log.ts";
import { addApiKey, newKeyPair, signJwt } from "../fixtures/auth-fixture.ts";
import { addSignedIn, consoleHeaders } from "../fixtures/signed-in.ts";
import { callRest } from "../spec/service.ts";
import { testOrigin } from "../fixtures/test-caller.ts";
import type { Owner } from "./things.ts";

/** A caller, defined by the headers that it sends. */
export interface TestCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The scopes that the caller has; undefined: the service does not know the caller. */
  readonly may: ReadonlySet<Scope> | undefined;
  /** The scopes of the caller on a WebSocket, if they differ. */
  readonly maySocket?: ReadonlySet<Scope>;
  /**
   * Whether the caller is also tested at a door that shares its authentication with a door at which
   * all callers are tested.
   */
  readonly isUsual?: boolean;
}

/** Returns a time in the past, even with clock skew. */
const hourAgo = () => new Date(Date.now() - 3_600_000);
const all: ReadonlySet<Scope> = new Set(scopes);
const none: ReadonlySet<Scope> = new Set();

/**
 * Creates callers with tokens: with each scope, with all scopes and with none, and callers with
 * tokens that are no longer valid, each for a different reason.
 */
export async function tokenCallers(owner: Owner, disabled: Owner): Promise<TestCaller[]> {
  const { db, accountId } = owner;
  const key = async (given: readonly Scope[], expiresAt?: Date) =>
    await addApiKey(db, accountId, [...given], expiresAt);
  const by = (name: string, token: string, may?: ReadonlySet<Scope>): TestCaller => {
    const isUsual = may === all || may === none;
    return { name, headers: { authorization: `Bearer ${token}` }, may, isUsual };
  };
  const withOne = scopes.map(async (scope) =>
    by(`a key with ${scope}`, (await key([scope])).token, new Set([scope])),
  );
  const [client, gone] = [await addClient(owner), await addClient(owner)];
  const { address, token } = owner;
  const call = { method: "DELETE", path: `/v1/${gone.name}` };
  assert.equal((await callRest(address, token, call)).status, 200);
  await disable(disabled);
  const { headers } = await addSignedIn(db, accountId, "OWNER");
  return [
    ...(await Promise.all(withOne)),
    by("a key without scopes", (await key([])).token, none),
    by("a JWT of every scope", client.sign(), all),
    by("a key that has expired", (await key(scopes, hourAgo())).token),
    by("a JWT of a key that was revoked", gone.sign()),
    by("a key of a disabled account", disabled.token),
    { ...by("a stream token", await streamToken(owner)), maySocket: new Set(["speech"]) },
    { name: "an owner's cookie alone", headers, may: undefined },
    { name: "no credentials", headers: {}, may: undefined, isUsual: true },
  ];
}

/**
 * Creates callers with a console cookie: for each role, for a key, and for sessions that have
 * ended.
 */
export async function consoleCallers(owner: Owner, disabled: Owner): Promise<TestCaller[]> {
  const { db, accountId } = owner;
  const sessions = createSessions({ db, log: createLog("silent") });
  const ofRoles = roles.map(async (role) => {
    const { headers } = await addSignedIn(db, accountId, role, sessions);
    return { name: `a session of the role ${role}`, headers, may: scopesOfRole[role] };
  });
  const byKey = async (given: Scope[], expiresAt?: Date): Promise<Record<string, string>> => {
    const { id } = await addApiKey(db, accountId, given);
    const visit = { origin: testOrigin, userAgent: "test", before: undefined };
    const owner = { accountId, apiKeyId: id };
    const { session, secret } = await sessions.open(owner, "api_key", visit);
    if (expiresAt) {
      await db.updateTable("api_key").set({ expires_at: expiresAt }).where("id", "=", id).execute();
    }
    return consoleHeaders(secret, session);
  };
  const left = await addSignedIn(db, accountId, "OWNER", sessions);
  await db.deleteFrom("member").where("id", "=", left.memberId).execute();
  const ofDisabled = await addSignedIn(db, disabled.accountId, "OWNER", sessions);
  await disable(disabled);
  const bearer = { ...consoleHeaders(undefined), authorization: `Bearer ${owner.token}` };
  return [
    ...(await Promise.all(ofRoles)),
    { name: "a session of a key", headers: await byKey(["speech"]), may: new Set(["speech"]) },
    {
      name: "a session of an expired key",
      headers: await byKey(["account"], hourAgo()),
      may: undefined,
    },
    { name: "a session of a member who has left", headers: left.headers, may: undefined },
    { name: "a session of a disabled account", headers: ofDisabled.headers, may: undefined },
    { name: "a token without a session", headers: bearer, may: undefined },
  ];
}

/** Creates a token for one socket. It expires so late that all other callers can call first. */
async function streamToken({ db, address, token, accountId }: Owner): Promise<string> {
  const call = { method: "POST", path: "/v1/streamTokens", body: {} };
  const { json } = await callRest(address, token, call);
  const later = { expires_at: new Date(Date.now() + 3_600_000) };
  await db.updateTable("stream_token").set(later).where("account_id", "=", accountId).execute();
  return json.token;
}

async function disable({ db, accountId }: Owner): Promise<void> {
  const change = { disabled_at: new Date() };
  await db.updateTable("account").set(change).where("id", "=", accountId).execute();
}

/** Adds a client key with every scope; returns a function that signs its JWTs. */
async function addClient({ address, token }: Owner) {
  const { privateKey, publicKey } = newKeyPair("EdDSA");
  const body = { publicKey: publicKey.export({ type: "spki", format: "pem" }), scopes };
  const call = { method: "POST", path: "/v1/clientKeys", body };
  const { status, json } = await callRest(address, token, call);
  assert.equal(status, 200);
  const { clientId, keyId: kid, name } = json;
  return {
    name,
    sign: () => {
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: clientId, sub: clientId, aud: address, iat, exp: iat + 600 };
      return signJwt({ alg: "EdDSA", kid }, claims, privateKey);
    },
  };
}
