import { type ExpireTime, type Expiry, expireTimeOf } from "./expiry.ts";
import { type Scope, scopes } from "./key.ts";

interface Facts {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  readonly expiry: Expiry;
  /** As a field for dates has it; "" before one was chosen. */
  readonly day: string;
}

/** What a new key is to be. */
export interface KeyDraft extends Facts {
  with(change: Partial<Facts>): KeyDraft;
  /** As expireTimeOf(). */
  expireTime(now: Date): ExpireTime;
  /** The fields of CreateApiKey and CreateClientKey; undefined while something is missing. */
  request(now: Date): KeyRequest | undefined;
}

export interface KeyRequest {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  readonly expireTime?: string;
}

/**
 * A key for all but the account, as far as its maker may do that, which ends: what is forgotten
 * does no harm for ever.
 */
export function newDraft(own: readonly string[]): KeyDraft {
  const usual = scopes.filter((scope) => scope !== "account" && own.includes(scope));
  return draftOf({ displayName: "", scopes: usual, expiry: "90", day: "" });
}

function draftOf(facts: Facts): KeyDraft {
  const { displayName, expiry, day } = facts;
  const expireTime = (now: Date) => expireTimeOf(expiry, day, now);
  return {
    ...facts,
    with: (change) => draftOf({ ...facts, ...change }),
    expireTime,
    request(now) {
      const end = expireTime(now);
      if (end === "missing" || facts.scopes.length === 0) return undefined;
      return {
        displayName: displayName.trim(),
        scopes: facts.scopes,
        ...(end !== "never" && { expireTime: end.at }),
      };
    },
  };
}
