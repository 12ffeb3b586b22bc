import type { KeySummary } from "../../operator/keys.ts";

/** Returns a key as JSON, with the field names of the API. */
export function keyJson(key: KeySummary) {
  return {
    name: key.name,
    account: `accounts/${key.accountId}`,
    displayName: key.displayName,
    scopes: key.scopes,
    creationTime: key.createdAt,
    expireTime: key.expiresAt,
    lastUseTime: key.lastUsedAt,
    limits: key.limits,
    creator: key.creator,
  };
}
