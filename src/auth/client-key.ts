import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

export type ClientKeyAlgorithm = "RS256" | "ES256" | "EdDSA";

/** A public key whose private half signs a client's JWTs. */
export interface PublicKey {
  readonly algorithm: ClientKeyAlgorithm;
  /** Only the public members: kty, and either n and e or crv, x and y. */
  readonly jwk: JsonWebKey;
}

/** The maximum length of the text of a key. A 4096-bit RSA key in PEM has 800 characters. */
export const textLengthMax = 10_000;
const rsaBits = { min: 2048, max: 8192 } as const;
/**
 * The accepted public exponents. Almost all keys use 65537, and some old keys use 3. With a large
 * exponent, each signature takes milliseconds to check; with 1, anyone can sign.
 */
const rsaExponent = { min: 3n, max: 2n ** 32n } as const;
/** The members of a JWK that only a private or shared key has (RFC 7518 section 6). */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * Reads a public key from PEM or JWK text. If the key cannot be registered, returns a string with
 * the reason, which repeats none of the text.
 */
export function readPublicKey(given: string): PublicKey | string {
  const text = given.trim();
  if (text === "") return "is required: a public key as PEM or JWK";
  if (text.length > textLengthMax) return `is longer than ${textLengthMax} characters`;
  if (text.includes("PRIVATE KEY-----")) return privateAdvice;
  const key = text.startsWith("{") ? fromJwk(text) : fromPem(text);
  return typeof key === "string" ? key : accept(key);
}

const privateAdvice =
  "is a private key: do not share it, but register its public half " +
  "(openssl pkey -in private.pem -pubout). Treat the private key as compromised";

function fromPem(text: string): KeyObject | string {
  if (!/-----BEGIN (RSA )?PUBLIC KEY-----/.test(text)) {
    return "is neither PEM (-----BEGIN PUBLIC KEY-----) nor a JWK ({...})";
  }
  try {
    return createPublicKey({ key: text, format: "pem" });
  } catch {
    return "is PEM without a key";
  }
}

function fromJwk(text: string): KeyObject | string {
  let jwk: unknown;
  try {
    jwk = JSON.parse(text);
  } catch {
    return "begins like a JWK but is not JSON";
  }
  if (!isObject(jwk)) return "is not a JWK";
  if (privateMembers.some((member) => Object.hasOwn(jwk, member))) return privateAdvice;
  if ("keys" in jwk) return "is a set of keys: register them one by one";
  if ("use" in jwk && jwk["use"] !== "sig") return "is a JWK that is not for signatures (use)";
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return "is JSON, but not a public key (RFC 7517)";
  }
  const accepted = accept(key);
  if (typeof accepted === "string") return accepted;
  const { alg } = jwk;
  const isSame =
    alg === accepted.algorithm || (alg === "Ed25519" && accepted.algorithm === "EdDSA");
  if (alg !== undefined && !isSame) {
    return `is a JWK whose alg is not ${accepted.algorithm}, the algorithm of this kind of key`;
  }
  return key;
}

function accept(key: KeyObject): PublicKey | string {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key;
  if (kind === "rsa") {
    const bits = details?.modulusLength ?? 0;
    if (bits < rsaBits.min || bits > rsaBits.max) {
      return `is an RSA key that must have ${rsaBits.min} to ${rsaBits.max} bits, not ${bits}`;
    }
    const exponent = details?.publicExponent ?? 0n;
    if (exponent < rsaExponent.min || exponent > rsaExponent.max) {
      return "is an RSA key with an unusual public exponent: 65537 is the usual one";
    }
    return { algorithm: "RS256", jwk: key.export({ format: "jwk" }) };
  }
  // prime256v1 is OpenSSL's name for P-256.
  if (kind === "ec" && details?.namedCurve === "prime256v1") {
    return { algorithm: "ES256", jwk: key.export({ format: "jwk" }) };
  }
  if (kind === "ed25519") return { algorithm: "EdDSA", jwk: key.export({ format: "jwk" }) };
  return kindsAdvice;
}

const kindsAdvice = "is not an RSA, elliptic curve P-256 or Ed25519 key";

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
