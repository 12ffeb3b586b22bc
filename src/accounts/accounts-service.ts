import { create } from "@bufbuild/protobuf";
import { EmptySchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, Selectable } from "kysely";
import { newApiKey } from "../auth/api-key.ts";
import { callerOf, scopes, type Caller, type Scope } from "../auth/caller.ts";
import { readPublicKey } from "../auth/client-key.ts";
import type { ApiKeyTable, ClientKeyTable, Tables } from "../database/tables.ts";
import {
  ApiKeySchema,
  ClientKeySchema,
  type Accounts,
  type ApiKey,
  type ClientKey,
  type CreateApiKeyRequest,
  type CreateApiKeyResponse,
  type CreateClientKeyRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { idIn, newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown, Violations } from "../std/service-error.ts";
import { accountMethods } from "./account-methods.ts";
import { checkDisplayName } from "../std/display-name.ts";

export interface AccountsParts {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly now?: () => number;
}

/** Keys of one kind that an account may have: lists answer them all. */
const keysMax = 1000;
/** The end of RFC 3339 time: 9999-12-31T23:59:59Z. */
const timestampSecondsMax = 253_402_300_799n;
const defaultScopes: readonly Scope[] = ["transcripts.read", "transcripts.write", "speech"];

/** The RPCs of hlust.accounts.v1: an account and its keys. */
export function createAccountsService(parts: AccountsParts): ServiceImpl<typeof Accounts> {
  const { db, log, now = Date.now } = parts;
  return {
    ...accountMethods(parts),
    createApiKey: (request, context) => createApiKey(db, log, now, request, callerOf(context)),
    listApiKeys: async (_request, context) => {
      const rows = await db
        .selectFrom("api_key")
        .selectAll()
        .where("account_id", "=", callerOf(context).accountId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { apiKeys: rows.map(apiKeyMessage) };
    },
    deleteApiKey: ({ name }, context) =>
      deleteKey(db, log, { table: "api_key", collection: "apiKeys", name }, callerOf(context)),
    createClientKey: (request, context) => createClientKey(db, log, request, callerOf(context)),
    listClientKeys: async (_request, context) => {
      const rows = await db
        .selectFrom("client_key")
        .selectAll()
        .where("account_id", "=", callerOf(context).accountId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
      return { clientKeys: rows.map(clientKeyMessage) };
    },
    deleteClientKey: ({ name }, context) =>
      deleteKey(
        db,
        log,
        { table: "client_key", collection: "clientKeys", name },
        callerOf(context),
      ),
  };
}

async function createApiKey(
  db: Kysely<Tables>,
  log: Log,
  now: () => number,
  request: CreateApiKeyRequest,
  caller: Caller,
): Promise<Pick<CreateApiKeyResponse, "secret"> & { apiKey: ApiKey }> {
  const violations = new Violations();
  checkDisplayName(request.displayName, violations);
  const granted = checkScopes(request.scopes, violations);
  const expiresAt = checkExpireTime(request.expireTime, now(), violations);
  violations.throwIfAny();
  refuseMoreThanOwn(granted, caller);
  await refuseTooMany(db, "api_key", caller);
  const key = newApiKey();
  const row = await db
    .insertInto("api_key")
    .values({
      id: key.id,
      account_id: caller.accountId,
      display_name: request.displayName,
      scopes: granted,
      secret_hash: key.secretHash,
      expires_at: expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  log.info({ accountId: caller.accountId, by: caller.keyId, keyId: key.id }, "api_key.created");
  return { apiKey: apiKeyMessage(row), secret: key.token };
}

async function createClientKey(
  db: Kysely<Tables>,
  log: Log,
  request: CreateClientKeyRequest,
  caller: Caller,
): Promise<ClientKey> {
  const violations = new Violations();
  checkDisplayName(request.displayName, violations);
  const granted = checkScopes(request.scopes, violations);
  const key = readPublicKey(request.publicKey);
  if (typeof key === "string") violations.add("publicKey", key);
  violations.throwIfAny();
  refuseMoreThanOwn(granted, caller);
  await refuseTooMany(db, "client_key", caller);
  if (typeof key === "string") throw new TypeError("a violation was not thrown");
  const row = await db
    .insertInto("client_key")
    .values({
      id: newId(),
      account_id: caller.accountId,
      client_id: newId(),
      display_name: request.displayName,
      scopes: granted,
      algorithm: key.algorithm,
      public_key: JSON.stringify(key.jwk),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  log.info({ accountId: caller.accountId, by: caller.keyId, keyId: row.id }, "client_key.created");
  return clientKeyMessage(row);
}

/** Somebody else's key answers like one that does not exist. */
async function deleteKey(
  db: Kysely<Tables>,
  log: Log,
  key: { table: "api_key" | "client_key"; collection: string; name: string },
  caller: Caller,
) {
  const id = idIn(key.collection, key.name);
  const deleted =
    id &&
    (await db
      .deleteFrom(key.table)
      .where("id", "=", id)
      .where("account_id", "=", caller.accountId)
      .returning("id")
      .executeTakeFirst());
  if (!deleted) throw new ServiceError("not_found", `there is no ${shown(key.name)}`);
  log.info({ accountId: caller.accountId, by: caller.keyId, keyId: id }, `${key.table}.deleted`);
  return create(EmptySchema);
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

/** Whoever holds a key that may make keys must not come to more than it can do itself. */
function refuseMoreThanOwn(granted: readonly Scope[], caller: Caller): void {
  const missing = granted.filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  throw new ServiceError(
    "permission_denied",
    `a key can only give scopes that it has: the one used for this call lacks ${missing.join(", ")}`,
    { reason: "SCOPE_MISSING", metadata: { scope: missing.join(",") } },
  );
}

async function refuseTooMany(
  db: Kysely<Tables>,
  table: "api_key" | "client_key",
  caller: Caller,
): Promise<void> {
  const { count } = await db
    .selectFrom(table)
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("account_id", "=", caller.accountId)
    .executeTakeFirstOrThrow();
  if (Number(count) < keysMax) return;
  throw new ServiceError(
    "resource_exhausted",
    `the account has ${keysMax} keys of this kind: delete one first`,
    { reason: "TOO_MANY_KEYS" },
  );
}

function apiKeyMessage(row: Selectable<ApiKeyTable>): ApiKey {
  return create(ApiKeySchema, {
    name: `apiKeys/${row.id}`,
    displayName: row.display_name,
    scopes: row.scopes,
    creationTime: timestampFromDate(row.created_at),
    ...(row.expires_at && { expireTime: timestampFromDate(row.expires_at) }),
    ...(row.last_used_at && { lastUseTime: timestampFromDate(row.last_used_at) }),
  });
}

function clientKeyMessage(row: Selectable<ClientKeyTable>): ClientKey {
  return create(ClientKeySchema, {
    name: `clientKeys/${row.id}`,
    keyId: row.id,
    clientId: row.client_id,
    displayName: row.display_name,
    algorithm: row.algorithm,
    scopes: row.scopes,
    creationTime: timestampFromDate(row.created_at),
    ...(row.last_used_at && { lastUseTime: timestampFromDate(row.last_used_at) }),
  });
}
