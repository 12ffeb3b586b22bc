import { createPublicKey, verify, type JsonWebKey, type KeyObject } from "node:crypto";
import { decodeProtectedHeader, UnsecuredJWT } from "jose";
import { isId } from "../std/ids.ts";
import type { ClientKeyAlgorithm } from "./client-key.ts";

/** A registered client key, ready to check signatures. */
export interface VerifyingKey {
  /** The value of the claims iss and sub. */
  readonly clientId: string;
  readonly algorithm: ClientKeyAlgorithm;
  readonly key: KeyObject;
}

/** The maximum of exp - iat, in seconds (docs/api.md, Access). */
const lifeSecondsMax = 3600;
/** The maximum difference between clocks, in seconds (docs/api.md, Access). */
const skewSeconds = 60;
/** The maximum length of our tokens, which also bounds the header of a call. */
export const tokenLengthMax = 8192;

/**
 * Returns the id of the key that a JWT names in its header kid, or undefined if the text cannot be
 * one of our tokens.
 */
export function keyIdOf(token: string): string | undefined {
  if (token.split(".").length !== 3) return undefined;
  try {
    const { kid } = decodeProtectedHeader(token);
    return kid !== undefined && isId(kid) ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Imports the public key of a row of client_key. */
export function importVerifyingKey(jwk: JsonWebKey): KeyObject {
  return createPublicKey({ key: jwk, format: "jwk" });
}

/**
 * Checks a JWT against the key that its kid names: the signature, only by the algorithm of that
 * key; iss = sub = client id; aud, exp, iat and the time between exp and iat (docs/api.md, Access).
 * Returns the time at which the token expires, in milliseconds, including the skew. Throws if
 * anything is wrong (for claims, jose's errors).
 */
export function verifyAccessToken(
  token: string,
  { clientId, algorithm, key }: VerifyingKey,
  { audience, now }: { audience: string; now: number },
): number {
  const [header = "", claims = "", signature = ""] = token.split(".");
  checkHeader(token, algorithm);
  if (!compact.test(token)) throw new TypeError("has characters that are not base64url");
  if (!isSigned(`${header}.${claims}`, signature, { algorithm, key })) {
    throw new TypeError("is not signed by the key that it names");
  }
  const { payload } = UnsecuredJWT.decode(`${unsecured}.${claims}.`, {
    issuer: clientId,
    subject: clientId,
    audience: [audience, `${audience}/`],
    clockTolerance: skewSeconds,
    currentDate: new Date(now),
    // This option also refuses an iat in the future.
    maxTokenAge: lifeSecondsMax,
    requiredClaims: ["exp", "iat"],
  });
  const { exp = 0, iat = 0 } = payload;
  if (exp - iat > lifeSecondsMax)
    throw new RangeError(`is valid for longer than ${lifeSecondsMax} s`);
  if (repeatsName(header) || repeatsName(claims))
    throw new TypeError("has two members with the same name");
  return (exp + skewSeconds) * 1000;
}

const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/**
 * The header with which jose reads claims whose signature has already been checked. jose's own
 * check uses WebCrypto, and takes a third more CPU time.
 */
const unsecured = Buffer.from('{"alg":"none"}').toString("base64url");

/**
 * Checks the header, which cannot choose how the signature is checked. Extensions that the header
 * requires (crit) are not supported.
 */
function checkHeader(token: string, algorithm: ClientKeyAlgorithm): void {
  const { alg, crit, b64, typ = "JWT" } = decodeProtectedHeader(token);
  if (alg !== algorithm) throw new TypeError("has a different algorithm from its key");
  if (crit !== undefined || b64 !== undefined) throw new TypeError("has crit or b64");
  if (typ.toUpperCase() !== "JWT") throw new TypeError("has a typ other than JWT");
}

/**
 * Returns whether a signature in the form of RFC 7518 section 3 and RFC 8037 section 3.1 is valid.
 * The key is passed without options, and an ECDSA signature is passed as DER. With options such as
 * dsaEncoding, Node would parse the key each time (30 to 60 us).
 */
function isSigned(
  text: string,
  signature: string,
  { algorithm, key }: Pick<VerifyingKey, "algorithm" | "key">,
): boolean {
  const [data, shown] = [Buffer.from(text), Buffer.from(signature, "base64url")];
  if (algorithm === "EdDSA") return verify(undefined, data, key, shown);
  if (algorithm === "RS256") return verify("sha256", data, key, shown);
  return shown.length === 2 * p256Bytes && verify("sha256", data, key, derOf(shown));
}

const p256Bytes = 32;

/** Converts an ECDSA signature, two concatenated numbers, to ASN.1 (RFC 3279 section 2.2.3). */
function derOf(signature: Buffer): Buffer {
  const numbers = [signature.subarray(0, p256Bytes), signature.subarray(p256Bytes)].map(derNumber);
  const body = Buffer.concat(numbers);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

function derNumber(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Buffer.of(0) : bytes.subarray(first);
  // A leading 1 bit would make the number negative.
  const sign = digits.readUInt8() < 0x80 ? Buffer.alloc(0) : Buffer.of(0);
  return Buffer.concat([Buffer.of(2, sign.length + digits.length), sign, digits]);
}

/** Matches a JSON string. If a colon follows, the string is the name of a member. */
const textOrName = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * Returns whether an object in a part of a token has two members with the same name. Readers differ
 * in which of them counts (RFC 7519 section 4).
 */
function repeatsName(part: string): boolean {
  const json = Buffer.from(part, "base64url").toString();
  let names = 0;
  for (const [, colon] of json.matchAll(textOrName)) if (colon !== undefined) names += 1;
  return names !== membersOf(JSON.parse(json));
}

/** Returns the total number of members of all objects in a value. */
function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, each) => sum + membersOf(each), own);
}
