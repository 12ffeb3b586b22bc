import {
  newSecretToken,
  readSecretToken,
  type NewSecretToken,
  type SecretTokenParts,
} from "./secret-token.ts";

const prefix = "hlust_";

/** Creates a new API key: hlust_<id>_<secret>. */
export function newApiKey(): NewSecretToken {
  return newSecretToken(prefix);
}

/** Returns whether a token has the form of an API key. Any other token is treated as a JWT. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(prefix);
}

/** Returns the parts of an API key, or undefined if the token cannot be an API key. */
export function parseApiKey(token: string): SecretTokenParts | undefined {
  return readSecretToken(prefix, token);
}
