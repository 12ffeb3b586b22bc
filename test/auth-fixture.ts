import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import type { Kysely } from "kysely";
import type { Tables } from "../src/database/tables.ts";
import { newId } from "../src/std/ids.ts";
import { ServiceError } from "../src/std/service-error.ts";
import { newApiKey } from "../src/auth/api-key.ts";
import type { Scope } from "../src/auth/caller.ts";
import type { ClientKeyAlgorithm } from "../src/auth/client-key.ts";

/** An account with nothing in it. */
export async function addAccount(db: Kysely<Tables>): Promise<string> {
  const id = newId();
  await db.insertInto("account").values({ id, display_name: "" }).execute();
  return id;
}

/** An API key of the account; answers its id and token. */
export async function addApiKey(
  db: Kysely<Tables>,
  accountId: string,
  scopes: Scope[],
  expiresAt: Date | null = null,
): Promise<{ id: string; token: string }> {
  const { id, token, secretHash } = newApiKey();
  await db
    .insertInto("api_key")
    .values({
      id,
      account_id: accountId,
      display_name: "",
      scopes,
      secret_hash: secretHash,
      expires_at: expiresAt,
    })
    .execute();
  return { id, token };
}

export interface TestClientKey {
  readonly id: string;
  readonly clientId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export async function addClientKey(
  db: Kysely<Tables>,
  accountId: string,
  algorithm: ClientKeyAlgorithm,
  scopes: Scope[] = ["speech"],
): Promise<TestClientKey> {
  const { privateKey, publicKey } = newKeyPair(algorithm);
  const [id, clientId] = [newId(), newId()];
  await db
    .insertInto("client_key")
    .values({
      id,
      account_id: accountId,
      client_id: clientId,
      display_name: "",
      scopes,
      algorithm,
      public_key: JSON.stringify(publicKey.export({ format: "jwk" })),
    })
    .execute();
  return { id, clientId, privateKey, publicKey };
}

export function newKeyPair(algorithm: ClientKeyAlgorithm) {
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  return generateKeyPairSync("ed25519");
}

export const base64url = (text: string) => Buffer.from(text).toString("base64url");

/** Signs anything at all as a compact JWS, by node:crypto alone: also what no library would sign. */
export function signJwt(header: object, claims: object | string, key: KeyObject | string): string {
  const payload = typeof claims === "string" ? claims : JSON.stringify(claims);
  const text = `${base64url(JSON.stringify(header))}.${base64url(payload)}`;
  if (typeof key === "string") {
    return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
  }
  const digest = key.asymmetricKeyType === "ed25519" ? undefined : "sha256";
  const signature = sign(digest, Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

/** What a call was refused with. */
export async function refusal(answer: Promise<unknown>): Promise<ServiceError> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  return assert.fail("it was not refused");
}
