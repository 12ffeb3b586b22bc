// Tests key pairs, and the tokens that they sign, with the service's own code.
import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { importVerifyingKey, verifyAccessToken } from "../auth/access-token.ts";
import { readPublicKey } from "../auth/client-key.ts";
import { accessTokensOf, signAccessToken } from "./access-token.ts";
import { makeKeyPair } from "./key-pair.ts";
import { algorithmOf, readPrivateKey, signingAlgorithms } from "./private-key.ts";

const keyId = "019aa5a0-0000-7000-8000-000000000001";
const clientId = "019aa5a0-0000-7000-8000-000000000002";
const audience = "https://hlust.example";
const now = Date.parse("2026-11-22T12:00:00Z");

/** Checks a token with the registered public key, as the service does. */
async function verify(token: string, publicKey: string, at = now): Promise<number> {
  const read = readPublicKey(publicKey);
  if (typeof read === "string") return assert.fail(read);
  const key = importVerifyingKey(read.jwk);
  const { algorithm } = read;
  return verifyAccessToken(token, { clientId, algorithm, key }, { audience, now: at });
}

for (const algorithm of signingAlgorithms) {
  test(`the service accepts tokens signed with a new ${algorithm} key, whose PEM can be read once`, async () => {
    const pair = await makeKeyPair(algorithm);
    assert.equal(pair.algorithm, algorithm);
    assert.equal(pair.privateKey.extractable, false);
    const { privateKey, publicKey } = pair;
    const token = await signAccessToken({ keyId, clientId, privateKey }, { audience, now });
    assert.equal(await verify(token, publicKey), now + 660_000);
    const [header = "", , signature] = token.split(".");
    const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
    assert.equal(kid, keyId);
    const other = await signAccessToken({ keyId, clientId, privateKey }, { audience: "x", now });
    const forged = [...other.split(".").slice(0, 2), signature].join(".");
    await assert.rejects(verify(forged, publicKey), /is not signed by the key/);

    const pem = pair.takePem();
    assert.throws(() => pair.takePem(), /already read/);
    assert.equal(createPrivateKey(pem).export({ format: "pem", type: "pkcs8" }), pem);
    const saved = await signAccessToken({ keyId, clientId, privateKey: pem }, { audience, now });
    await verify(saved, publicKey);
    const read = await readPrivateKey(pem);
    assert.deepEqual([algorithmOf(read), read.extractable], [algorithm, false]);
  });
}

test("the default algorithm of a key is Ed25519", async () => {
  const pair = await makeKeyPair();
  assert.equal(pair.algorithm, "EdDSA");
  assert.deepEqual(Object.keys(JSON.parse(pair.publicKey)), ["kty", "crv", "x"]);
});

test("a client signs a new token two minutes before the previous one expires, and no earlier", async () => {
  const { privateKey, publicKey } = await makeKeyPair();
  let clock = now;
  const next = accessTokensOf({ keyId, clientId, privateKey }, { audience, now: () => clock });
  const [first, same] = await Promise.all([next(), next()]);
  assert.equal(first, same);
  clock = now + 479_999;
  assert.equal(await next(), first);
  clock = now + 480_000;
  const second = await next();
  assert.notEqual(second, first);
  assert.equal(await verify(second, publicKey, clock), clock + 660_000);
  clock = now - 3_600_000;
  const back = await next();
  assert.equal(await verify(back, publicKey, clock), clock + 660_000, "the clock was set back");
});

test("an error about a key that cannot sign contains no part of the key", async () => {
  const pair = await makeKeyPair("ES256");
  const pem = pair.takePem();
  const body = pem.split("\n")[1] ?? "";
  const other = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey;
  const sec1 = createPrivateKey(pem).export({ format: "pem", type: "sec1" }).toString();
  const rows: [privateKey: string, problem: RegExp][] = [
    ["", /no private key in PEM/],
    [sec1, /openssl pkcs8 -topk8/],
    [other.export({ format: "pem", type: "pkcs8" }).toString(), /must be Ed25519, P-256 or RSA/],
    [pem.replace(body, body.slice(1)), /is not base64|must be Ed25519/],
    [pem.replace(body, body.slice(4)), /must be Ed25519/],
  ];
  for (const [privateKey, problem] of rows) {
    const signing = signAccessToken({ keyId, clientId, privateKey }, { audience });
    await assert.rejects(signing, (error: unknown) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, problem);
      return !error.message.includes(body.slice(8, 20));
    });
  }
  for (const lifeSeconds of [0, 3601, Number.NaN]) {
    const signing = signAccessToken(
      { keyId, clientId, privateKey: pem },
      { audience, lifeSeconds },
    );
    await assert.rejects(signing, /must be 1 to 3600 s/);
  }
});
