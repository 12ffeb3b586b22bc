import {
  newSecretToken,
  readSecretToken,
  type NewSecretToken,
  type SecretTokenParts,
} from "./secret-token.ts";

const prefix = "hlust_";

/** A new API key: hlust_<id>_<secret>. */
export function newApiKey(): NewSecretToken {
  return newSecretToken(prefix);
}

/** Whether a token is an API key by its form; anything else is treated as a JWT. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(prefix);
}

/** The parts of an API key; undefined if the token cannot be one. */
export function parseApiKey(token: string): SecretTokenParts | undefined {
  return readSecretToken(prefix, token);
}
