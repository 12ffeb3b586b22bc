import { create } from "@bufbuild/protobuf";
import type { Selectable } from "kysely";
import type { ApiKeyTable, ClientKeyTable } from "../database/access-tables.ts";
import {
  ApiKeySchema,
  ClientKeySchema,
  type ApiKey,
  type ClientKey,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { keyLimitsMessage } from "./key-limits.ts";

/** The collections in the names of both kinds of keys, by the table of the keys. */
export const collections = { api_key: "apiKeys", client_key: "clientKeys" } as const;
export type KeyKind = keyof typeof collections;

/** Creates the message of an API key. `nowMs` decides whether its previous secret is valid. */
export function apiKeyMessage(row: Selectable<ApiKeyTable>, nowMs: number): ApiKey {
  const until = row.previous_secret_until;
  return create(ApiKeySchema, {
    name: `apiKeys/${row.id}`,
    ...factsOf(row),
    ...(until && until.getTime() > nowMs && { previousSecretExpireTime: timestampFromDate(until) }),
  });
}

export function clientKeyMessage(row: Selectable<ClientKeyTable>): ClientKey {
  return create(ClientKeySchema, {
    name: `clientKeys/${row.id}`,
    keyId: row.id,
    clientId: row.client_id,
    algorithm: row.algorithm,
    ...factsOf(row),
  });
}

/** Returns the fields that both kinds of keys have. */
function factsOf(row: Selectable<ApiKeyTable> | Selectable<ClientKeyTable>) {
  return {
    displayName: row.display_name,
    scopes: row.scopes,
    limits: keyLimitsMessage(row.limits),
    creationTime: timestampFromDate(row.created_at),
    ...(row.expires_at && { expireTime: timestampFromDate(row.expires_at) }),
    ...(row.last_used_at && { lastUseTime: timestampFromDate(row.last_used_at) }),
    creator: row.creator,
  };
}
