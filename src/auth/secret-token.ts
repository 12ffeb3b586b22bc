import { hash as hashOnce, randomBytes, timingSafeEqual } from "node:crypto";
import { newId } from "../std/ids.ts";

/** A new secret. `token` is shown once; only `secretHash` is stored. */
export interface NewSecretToken {
  readonly id: string;
  /**
   * The token has the form <prefix><id without dashes>_<256 random bits in base64url>. All its
   * characters are allowed in HTTP tokens, so it can be a WebSocket subprotocol.
   */
  readonly token: string;
  readonly secretHash: Buffer;
}

export interface SecretTokenParts {
  readonly id: string;
  readonly secret: string;
}

const form =
  /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** Creates a new secret. A new secret for an existing id replaces the previous secret. */
export function newSecretToken(prefix: string, id: string = newId()): NewSecretToken {
  const secret = randomBytes(32).toString("base64url");
  return { id, token: `${prefix}${id.replaceAll("-", "")}_${secret}`, secretHash: hash(secret) };
}

/** Returns the parts of a token, or undefined if the text cannot be a token with this prefix. */
export function readSecretToken(prefix: string, token: string): SecretTokenParts | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const [matched, a, b, c, d, e, secret] = form.exec(token.slice(prefix.length)) ?? [];
  if (matched === undefined || secret === undefined) return undefined;
  return { id: [a, b, c, d, e].join("-"), secret };
}

/** Hashes a secret. A fast hash is enough, because 256 random bits cannot be guessed. */
function hash(secret: string): Buffer {
  return hashOnce("sha256", secret, "buffer");
}

const hashOfNone = randomBytes(32);

/** Compares a secret with its hash in constant time, even if there is no hash (undefined). */
export function secretMatches(secret: string, secretHash: Buffer | null | undefined): boolean {
  const isEqual = timingSafeEqual(hash(secret), secretHash ?? hashOfNone);
  return isEqual && secretHash !== undefined && secretHash !== null;
}
