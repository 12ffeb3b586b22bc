import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { newId } from "../std/ids.ts";

/** An API key on its way to its owner: `token` is shown once, `secretHash` is what is kept. */
export interface NewApiKey {
  readonly id: string;
  /** hlust_<id without dashes>_<256 random bits in base64url>: token characters only, also in a WebSocket subprotocol. */
  readonly token: string;
  readonly secretHash: Buffer;
}

export interface ApiKeyParts {
  readonly id: string;
  readonly secret: string;
}

const prefix = "hlust_";
const form =
  /^hlust_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([\w-]{43})$/;

export function newApiKey(): NewApiKey {
  const id = newId();
  const secret = randomBytes(32).toString("base64url");
  return { id, token: `${prefix}${id.replaceAll("-", "")}_${secret}`, secretHash: hash(secret) };
}

/** Whether a token is meant as an API key; anything else is taken for a JWT. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(prefix);
}

/** undefined when the token cannot be an API key. */
export function parseApiKey(token: string): ApiKeyParts | undefined {
  const [matched, a, b, c, d, e, secret] = form.exec(token) ?? [];
  if (matched === undefined || secret === undefined) return undefined;
  return { id: [a, b, c, d, e].join("-"), secret };
}

/** A fast hash is right for 256 random bits: there is nothing to guess. */
function hash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

const hashOfNoKey = randomBytes(32);

/** Compares in the same time whether the key is wrong in its first or last byte, or (undefined) not there at all. */
export function secretMatches(secret: string, secretHash: Buffer | undefined): boolean {
  const isEqual = timingSafeEqual(hash(secret), secretHash ?? hashOfNoKey);
  return isEqual && secretHash !== undefined;
}
