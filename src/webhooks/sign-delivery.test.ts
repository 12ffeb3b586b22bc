import assert from "node:assert/strict";
import { test } from "node:test";
import { newSecret, secretText, signedHeaders } from "./sign-delivery.ts";

/** The test vector that is used by the libraries of Standard Webhooks. */
const vector = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const key = Buffer.from(vector.secret.slice("whsec_".length), "base64");

test("the vector of Standard Webhooks is signed as its libraries sign it", () => {
  assert.equal(secretText(key), vector.secret);
  // A fraction of a second does not count.
  const at = new Date(vector.timestamp * 1000 + 999);
  assert.deepEqual(signedHeaders(vector, at, [key]), {
    "webhook-id": vector.id,
    "webhook-timestamp": `${vector.timestamp}`,
    "webhook-signature": vector.signature,
  });
});

test("each secret creates a signature, and every part of the message affects it", () => {
  const at = new Date(vector.timestamp * 1000);
  const other = newSecret();
  const signatures = signedHeaders(vector, at, [other, key])["webhook-signature"].split(" ");
  assert.equal(signatures.length, 2);
  assert.equal(signatures[1], vector.signature);
  const changed = [
    signedHeaders({ ...vector, id: "msg_other" }, at, [key]),
    signedHeaders({ ...vector, body: `${vector.body} ` }, at, [key]),
    signedHeaders(vector, new Date(at.getTime() + 1000), [key]),
    signedHeaders(vector, at, [other]),
  ].map((headers) => headers["webhook-signature"]);
  assert.equal(new Set([...changed, vector.signature]).size, 5);
});

test("secrets are 32 random bytes, shown as whsec_ and base64", () => {
  const [one, two] = [newSecret(), newSecret()];
  assert.equal(one.length, 32);
  assert.notDeepEqual(one, two);
  assert.match(secretText(one), /^whsec_[A-Za-z0-9+/]{43}=$/);
});
