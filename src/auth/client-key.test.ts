import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { describe, it } from "node:test";
import { readPublicKey } from "./client-key.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const smallRsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const ed25519 = generateKeyPairSync("ed25519");
const ed448 = generateKeyPairSync("ed448");
const x25519 = generateKeyPairSync("x25519");
const rsaPss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });

const pem = (key: KeyObject, type: "spki" | "pkcs1" = "spki") =>
  key.export({ type, format: "pem" }).toString();
const privatePem = (key: KeyObject, type: "pkcs8" | "pkcs1" | "sec1" = "pkcs8") =>
  key.export({ type, format: "pem" }).toString();
const jwk = (key: KeyObject, more: object = {}) =>
  JSON.stringify({ ...key.export({ format: "jwk" }), ...more });

describe("readPublicKey()", () => {
  const accepted: [string, string, string][] = [
    ["RSA in PEM", pem(rsa.publicKey), "RS256"],
    ["RSA in PKCS #1 PEM", pem(rsa.publicKey, "pkcs1"), "RS256"],
    ["RSA as JWK", jwk(rsa.publicKey, { alg: "RS256", use: "sig", kid: "x" }), "RS256"],
    ["P-256 in PEM, with spaces around", `\n  ${pem(p256.publicKey)}\n\n`, "ES256"],
    ["P-256 as JWK", jwk(p256.publicKey), "ES256"],
    ["Ed25519 in PEM", pem(ed25519.publicKey), "EdDSA"],
    ["Ed25519 as JWK", jwk(ed25519.publicKey, { alg: "EdDSA" }), "EdDSA"],
    ["Ed25519 as JWK by its newer name", jwk(ed25519.publicKey, { alg: "Ed25519" }), "EdDSA"],
  ];
  for (const [name, text, algorithm] of accepted) {
    it(`accepts ${name} and returns only the public members`, () => {
      const key = readPublicKey(text);
      if (typeof key === "string") assert.fail(key);
      assert.equal(key.algorithm, algorithm);
      const members = Object.keys(key.jwk).toSorted().join(" ");
      assert.match(members, /^(e kty n|crv kty x y|crv kty x)$/);
    });
  }

  const refused: [string, string, RegExp][] = [
    ["nothing", " \n", /is required/],
    ["a word", "secret", /neither PEM .* nor a JWK/],
    ["a private key", privatePem(rsa.privateKey), /is a private key: .*openssl pkey/],
    ["a private key in PKCS #1 PEM", privatePem(rsa.privateKey, "pkcs1"), /is a private key/],
    ["a private key in SEC 1 PEM", privatePem(p256.privateKey, "sec1"), /is a private key/],
    [
      "a private key after its public one",
      pem(rsa.publicKey) + privatePem(rsa.privateKey),
      /is a private key/,
    ],
    ["a private JWK", jwk(ed25519.privateKey), /is a private key/],
    ["a shared secret", JSON.stringify({ kty: "oct", k: "c2VjcmV0" }), /is a private key/],
    [
      "a set of keys",
      JSON.stringify({ keys: [rsa.publicKey.export({ format: "jwk" })] }),
      /one by one/,
    ],
    ["a JWK for encryption", jwk(rsa.publicKey, { use: "enc" }), /not for signatures/],
    ["a JWK of another algorithm", jwk(rsa.publicKey, { alg: "PS256" }), /alg is not RS256/],
    ["a JWK with HMAC as its algorithm", jwk(rsa.publicKey, { alg: "HS256" }), /alg is not/],
    [
      "JSON that is not a key",
      `{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}`,
      /not a public key/,
    ],
    ["truncated JSON", `{"kty": `, /not JSON/],
    [
      "a certificate",
      "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----",
      /neither PEM/,
    ],
    [
      "PEM without a key",
      "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
      /without a key/,
    ],
    ["RSA of 1024 bits", pem(smallRsa.publicKey), /must have 2048 to 8192 bits, not 1024/],
    [
      "RSA with an exponent as long as the key, which is slow to check",
      jwk(rsa.publicKey, { e: Buffer.alloc(256, 0x7f).toString("base64url") }),
      /public exponent: 65537/,
    ],
    ["RSA with the exponent 1", jwk(rsa.publicKey, { e: "AQ" }), /public exponent: 65537/],
    ["RSA-PSS", pem(rsaPss.publicKey), /is not an RSA, .* key/],
    ["P-384", pem(p384.publicKey), /is not an RSA, .* key/],
    ["Ed448", pem(ed448.publicKey), /is not an RSA, .* key/],
    ["X25519", jwk(x25519.publicKey), /is not an RSA, .* key/],
    ["a long text", "-----BEGIN PUBLIC KEY-----".padEnd(10_001, "A"), /longer than 10000/],
  ];
  for (const [name, text, why] of refused) {
    it(`refuses ${name} without repeating it`, () => {
      const problem = readPublicKey(text);
      assert.ok(typeof problem === "string", "it was accepted");
      assert.match(problem, why);
      assert.ok(text.trim().length < 10 || !problem.includes(text.trim().slice(-30)));
    });
  }
});
