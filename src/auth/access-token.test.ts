import assert from "node:assert/strict";
import { test } from "node:test";
import { newKeyPair, signJwt } from "../../test/fixtures/auth-fixture.ts";
import { importVerifyingKey, verifyAccessToken } from "./access-token.ts";

test("verifyAccessToken() accepts ES256 signatures whose numbers have leading zeros or ones", () => {
  const { privateKey, publicKey } = newKeyPair("ES256");
  const key = importVerifyingKey(publicKey.export({ format: "jwk" }));
  const [clientId, audience, now] = ["client", "https://hlust.example", 1_800_000_000];
  const claims = { iss: clientId, sub: clientId, aud: audience, iat: now, exp: now + 60 };
  const seen = { zero: 0, small: 0, large: 0 };
  // One in 256 numbers begins with a zero byte.
  for (let jti = 0; jti < 600; jti += 1) {
    const token = signJwt({ alg: "ES256", kid: "key" }, { ...claims, jti }, privateKey);
    const parts = { clientId, algorithm: "ES256", key } as const;
    const endsAt = verifyAccessToken(token, parts, { audience, now: now * 1000 });
    assert.equal(endsAt, (now + 120) * 1000);
    const [first = 0] = Buffer.from(token.split(".")[2] ?? "", "base64url");
    seen[first === 0 ? "zero" : first < 0x80 ? "small" : "large"] += 1;
  }
  assert.ok(seen.small > 0 && seen.large > 0);
});
