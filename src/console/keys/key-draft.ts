import { type ExpireTime, type Expiry, expireTimeOf } from "./expiry.ts";
import { type Scope, scopes } from "./key.ts";
import { areLimits, type LimitTexts, numbersOf, textsOf } from "./limit-texts.ts";

interface Facts {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  readonly expiry: Expiry;
  /** The value of a date input; "" until a day is chosen. */
  readonly day: string;
  readonly limits: LimitTexts;
}

/** The contents of the form for a new key. */
export interface KeyDraft extends Facts {
  with(change: Partial<Facts>): KeyDraft;
  /** Returns the result of expireTimeOf() for this form. */
  expireTime(now: Date): ExpireTime;
  /**
   * Returns the fields of CreateApiKey and CreateClientKey, or undefined while the form is
   * incomplete.
   */
  request(now: Date): KeyRequest | undefined;
}

export interface KeyRequest {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  readonly expireTime?: string;
  readonly limits?: ReturnType<typeof numbersOf>;
}

/**
 * Returns the default form: the user's scopes for speech and transcripts, and an expiry, so that a
 * forgotten key does no harm.
 */
export function newDraft(own: readonly string[]): KeyDraft {
  const usual = scopes.filter(
    (scope) => scope !== "account" && scope !== "operator" && own.includes(scope),
  );
  return draftOf({ displayName: "", scopes: usual, expiry: "90", day: "", limits: textsOf({}) });
}

function draftOf(facts: Facts): KeyDraft {
  const { displayName, expiry, day, limits } = facts;
  const expireTime = (now: Date) => expireTimeOf(expiry, day, now);
  return {
    ...facts,
    with: (change) => draftOf({ ...facts, ...change }),
    expireTime,
    request(now) {
      const end = expireTime(now);
      if (end === "missing" || facts.scopes.length === 0 || !areLimits(limits)) return undefined;
      const set = numbersOf(limits);
      return {
        displayName: displayName.trim(),
        scopes: facts.scopes,
        ...(end !== "never" && { expireTime: end.at }),
        ...(Object.keys(set).length > 0 && { limits: set }),
      };
    },
  };
}
