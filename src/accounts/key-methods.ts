import { create } from "@bufbuild/protobuf";
import { EmptySchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { newApiKey } from "../auth/api-key.ts";
import { audited, type Act } from "../auth/audit-log.ts";
import { callerOf, scopes, type Caller, type Scope } from "../auth/caller.ts";
import { readPublicKey } from "../auth/client-key.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import type {
  Accounts,
  ApiKey,
  ClientKey,
  CreateApiKeyRequest,
  CreateApiKeyResponse,
  CreateClientKeyRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { idIn, newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown, Violations } from "../std/service-error.ts";
import { checkKeyLimits } from "./key-limits.ts";
import { apiKeyMessage, clientKeyMessage, collections, type KeyKind } from "./key-messages.ts";
import { refuseMoreThanOwn } from "./refuse-more-than-own.ts";
import { refuseTooManyKeys } from "./refuse-too-many-keys.ts";

interface KeyParts {
  readonly db: Kysely<Tables>;
  /** A new key cannot get higher limits than the key that creates it. */
  readonly meter: Pick<Meter, "limitsOf">;
  readonly log: Log;
  readonly now?: () => number;
}

/** The last time that RFC 3339 can express: 9999-12-31T23:59:59Z. */
const timestampSecondsMax = 253_402_300_799n;
const defaultScopes: readonly Scope[] = ["transcripts.read", "transcripts.write", "speech"];

/** Creates the RPCs of an account's API keys and client keys. */
export function keyMethods(parts: KeyParts) {
  const { db, now = Date.now } = parts;
  return {
    async createApiKey(request, context) {
      return await createApiKey(parts, request, callerOf(context));
    },

    async listApiKeys(_request, context) {
      const rows = await db
        .selectFrom("api_key")
        .selectAll()
        .where("account_id", "=", callerOf(context).accountId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { apiKeys: rows.map((row) => apiKeyMessage(row, now())) };
    },

    async deleteApiKey({ name }, context) {
      return await deleteKey(parts, "api_key", name, callerOf(context));
    },

    async createClientKey(request, context) {
      return await createClientKey(parts, request, callerOf(context));
    },

    async listClientKeys(_request, context) {
      const rows = await db
        .selectFrom("client_key")
        .selectAll()
        .where("account_id", "=", callerOf(context).accountId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { clientKeys: rows.map(clientKeyMessage) };
    },

    async deleteClientKey({ name }, context) {
      return await deleteKey(parts, "client_key", name, callerOf(context));
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

async function createApiKey(
  parts: KeyParts,
  request: CreateApiKeyRequest,
  caller: Caller,
): Promise<Pick<CreateApiKeyResponse, "secret"> & { apiKey: ApiKey }> {
  const violations = new Violations();
  const wanted = await checkKey(request, parts, caller, violations);
  violations.throwIfAny();
  refuseMoreThanOwn(wanted.scopes, caller);
  const key = newApiKey();
  const values = { ...wanted, id: key.id, secret_hash: key.secretHash };
  const row = await audited(parts, caller, async (trx, record) => {
    await refuseTooManyKeys(trx, "api_key", caller.accountId);
    await record(creationOf("api_key", values));
    return await trx
      .insertInto("api_key")
      .values({ ...values, account_id: caller.accountId, creator: caller.actor })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  return { apiKey: apiKeyMessage(row, parts.now?.() ?? Date.now()), secret: key.token };
}

async function createClientKey(
  parts: KeyParts,
  request: CreateClientKeyRequest,
  caller: Caller,
): Promise<ClientKey> {
  const violations = new Violations();
  const wanted = await checkKey(request, parts, caller, violations);
  const key = readPublicKey(request.publicKey);
  if (typeof key === "string") violations.add("publicKey", key);
  violations.throwIfAny();
  if (typeof key === "string") throw new TypeError("a violation was not thrown");
  refuseMoreThanOwn(wanted.scopes, caller);
  const values = {
    ...wanted,
    id: newId(),
    client_id: newId(),
    algorithm: key.algorithm,
    public_key: JSON.stringify(key.jwk),
  };
  const row = await audited(parts, caller, async (trx, record) => {
    await refuseTooManyKeys(trx, "client_key", caller.accountId);
    await record(creationOf("client_key", values));
    return await trx
      .insertInto("client_key")
      .values({ ...values, account_id: caller.accountId, creator: caller.actor })
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  return clientKeyMessage(row);
}

/** Deletes a key. A key of another account is treated as nonexistent. */
async function deleteKey(
  parts: Pick<KeyParts, "db" | "log">,
  kind: KeyKind,
  name: string,
  caller: Caller,
) {
  const id = idIn(collections[kind], name);
  await audited(parts, caller, async (trx, record) => {
    const deleted =
      id &&
      (await trx
        .deleteFrom(kind)
        .where("id", "=", id)
        .where("account_id", "=", caller.accountId)
        .returning("display_name")
        .executeTakeFirst());
    if (!deleted) throw new ServiceError("not_found", `there is no ${shown(name)}`);
    const details = { displayName: deleted.display_name };
    await record({ action: `${kind}.delete`, resource: name, details });
  });
  return create(EmptySchema);
}

/** The requested properties of both kinds of keys. */
interface RequestedKey {
  readonly display_name: string;
  readonly scopes: Scope[];
  readonly expires_at: Date | null;
  /** The limits as JSON, as the column stores them. */
  readonly limits: string;
}

async function checkKey(
  request: CreateApiKeyRequest | CreateClientKeyRequest,
  { meter, now = Date.now }: KeyParts,
  caller: Caller,
  violations: Violations,
): Promise<RequestedKey> {
  const { key: own } = await meter.limitsOf(caller);
  checkDisplayName(request.displayName, violations);
  return {
    display_name: request.displayName,
    scopes: checkScopes(request.scopes, violations),
    expires_at: checkExpireTime(request.expireTime, now(), violations),
    limits: checkKeyLimits(request.limits, own, violations),
  };
}

function creationOf(kind: KeyKind, key: RequestedKey & { readonly id: string }): Act {
  return {
    action: `${kind}.create`,
    resource: `${collections[kind]}/${key.id}`,
    details: {
      displayName: key.display_name,
      scopes: key.scopes.join(","),
      ...(key.expires_at && { expireTime: key.expires_at.toISOString() }),
    },
  };
}

function checkScopes(names: readonly string[], violations: Violations): Scope[] {
  if (names.length === 0) return [...defaultScopes];
  for (const [index, name] of names.entries()) {
    if (!scopes.some((scope) => scope === name)) {
      violations.add(`scopes[${index}]`, `${shown(name)} is not one of ${scopes.join(", ")}`);
    }
  }
  return scopes.filter((scope) => names.includes(scope));
}

function checkExpireTime(
  time: Timestamp | undefined,
  now: number,
  violations: Violations,
): Date | null {
  if (!time) return null;
  if (time.seconds < 0n || time.seconds > timestampSecondsMax) {
    violations.add("expireTime", "is not a time from 1970 to 9999");
    return null;
  }
  const expiresAt = new Date(Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000));
  if (!(expiresAt.getTime() > now)) {
    violations.add("expireTime", "is not in the future");
  }
  return expiresAt;
}
