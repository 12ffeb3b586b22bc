import {
  newSecretToken,
  readSecretToken,
  secretMatches,
  type NewSecretToken,
  type SecretTokenParts,
} from "./secret-token.ts";

const prefix = "hlust_";

/** Creates a new API key, or a new secret for an existing one: hlust_<id>_<secret>. */
export function newApiKey(id?: string): NewSecretToken {
  return newSecretToken(prefix, id);
}

/** The secrets of a stored key. */
export interface StoredSecrets {
  readonly secretHash: Buffer;
  /** The hash of the secret before the last rotation; null if it is not valid any more. */
  readonly previousHash: Buffer | null;
  /** The time until which the previous secret is valid. */
  readonly previousUntil: Date | null;
}

/**
 * Returns whether a secret is the one of a stored key, or its previous one while that is valid.
 * Takes the same time whether the key exists or not. `nowMs` is in milliseconds since 1970.
 */
export function keyMatches(
  secret: string,
  stored: StoredSecrets | undefined,
  nowMs: number,
): boolean {
  const isCurrent = secretMatches(secret, stored?.secretHash);
  const isPrevious = secretMatches(secret, stored?.previousHash);
  const until = stored?.previousUntil?.getTime() ?? 0;
  return isCurrent || (isPrevious && nowMs < until);
}

/** Returns whether a token has the form of an API key. Any other token is treated as a JWT. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(prefix);
}

/** Returns the parts of an API key, or undefined if the token cannot be an API key. */
export function parseApiKey(token: string): SecretTokenParts | undefined {
  return readSecretToken(prefix, token);
}
