import { decodeProtectedHeader, importJWK, jwtVerify, type CryptoKey, type JWK } from "jose";
import { isId } from "../std/ids.ts";
import type { ClientKeyAlgorithm } from "./client-key.ts";

/** A registered client key, ready to check signatures. */
export interface VerifyingKey {
  /** The claims iss and sub. */
  readonly clientId: string;
  readonly algorithm: ClientKeyAlgorithm;
  readonly key: CryptoKey | Uint8Array;
}

/** Decisions, Access: exp - iat is at most this. */
const lifeSecondsMax = 3600;
/** Decisions, Access: how far clocks may differ. */
const skewSeconds = 60;
/** A longer text is no token of ours; it also keeps the header of a call small. */
const lengthMax = 8192;

/** The key that a JWT says it is signed with (its header kid, an id); undefined when the text cannot be one of ours. */
export function keyIdOf(token: string): string | undefined {
  if (token.length > lengthMax || token.split(".").length !== 3) return undefined;
  try {
    const { kid } = decodeProtectedHeader(token);
    return kid !== undefined && isId(kid) ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** The public key of a row of client_key. */
export function importVerifyingKey(
  jwk: JWK,
  algorithm: ClientKeyAlgorithm,
): Promise<VerifyingKey["key"]> {
  return importJWK(jwk, algorithm);
}

/**
 * Checks a JWT against the key that its kid names: signature by the algorithm of that key and no other, iss = sub = client
 * id, aud, exp, iat and their span (decisions, Access). Answers when it ends, in milliseconds, skew included; throws
 * (jose's errors) when anything is wrong.
 */
export async function verifyAccessToken(
  token: string,
  { clientId, algorithm, key }: VerifyingKey,
  { audience, now }: { audience: string; now: number },
): Promise<number> {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: [algorithm],
    issuer: clientId,
    subject: clientId,
    audience: [audience, `${audience}/`],
    clockTolerance: skewSeconds,
    currentDate: new Date(now),
    // Also refuses an iat that lies ahead.
    maxTokenAge: lifeSecondsMax,
    requiredClaims: ["exp", "iat"],
  });
  const { exp = 0, iat = 0 } = payload;
  if (exp - iat > lifeSecondsMax) throw new RangeError(`lives longer than ${lifeSecondsMax} s`);
  const { typ = "JWT" } = protectedHeader;
  if (typ.toUpperCase() !== "JWT") throw new TypeError("has another typ than JWT");
  return (exp + skewSeconds) * 1000;
}
