import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createSignedUrls, signedUrlMs, type Grant } from "./signed-url.ts";

const key = Buffer.alloc(32, 1);
const base = "https://hlust.example/speech";
const start = Date.UTC(2026, 10, 20);

function urlsAt(ms: number) {
  return createSignedUrls({ key, publicUrl: () => base, now: () => ms });
}

const put: Grant = { method: "PUT", path: "/media/uploads/1-2", bytesMax: 1000 };
const get: Grant = { method: "GET", path: "/media/3-4" };

function target(grant: Grant): string {
  const url = urlsAt(start).sign(grant);
  assert.ok(url.startsWith(`${base}/media/`));
  return url.slice(base.length);
}

test("verify() returns the signed grant for an hour", () => {
  for (const grant of [put, get]) {
    const signed = target(grant);
    assert.deepEqual(urlsAt(start).verify(grant.method, signed), grant);
    assert.deepEqual(urlsAt(start + signedUrlMs - 1).verify(grant.method, signed), grant);
    assert.equal(urlsAt(start + signedUrlMs).verify(grant.method, signed), undefined);
  }
  assert.deepEqual(urlsAt(start).verify("HEAD", target(get)), get);
});

test("verify() rejects a different method, path, expiry, limit, key or spelling", () => {
  const [putTarget, getTarget] = [target(put), target(get)];
  const token = /token=([\w-]+)/.exec(putTarget)?.[1] ?? "";
  const rows: [method: string, target: string][] = [
    ["GET", putTarget],
    ["HEAD", putTarget],
    ["PUT", getTarget],
    ["POST", putTarget],
    ["DELETE", getTarget],
    ["PUT", putTarget.replace("uploads/1-2", "uploads/1-3")],
    ["GET", getTarget.replace("3-4", "3-5")],
    ["PUT", putTarget.replace("bytesMax=1000", "bytesMax=1001")],
    ["PUT", putTarget.replace("bytesMax=1000&", "")],
    ["GET", getTarget.replace("&token", "&bytesMax=1&token")],
    ["PUT", putTarget.replace(/expires=\d/, "expires=9")],
    ["PUT", putTarget.replace("expires=", "expires=0")],
    ["PUT", putTarget.replace("1-2", "1%2D2")],
    ["PUT", `${putTarget}&x=1`],
    ["PUT", putTarget.replace("?", "?x=1&")],
    ["PUT", putTarget.replace("/media/", "//media/")],
    ["PUT", putTarget.replace("?", "/?")],
    ["PUT", `${base}${putTarget}`],
    ["PUT", putTarget.replace(`&token=${token}`, "")],
    ["PUT", putTarget.replace(token, "")],
    ["PUT", putTarget.replace(/&bytesMax=1000&token=(.*)/, "&token=$1&bytesMax=1000")],
    ["GET", "/media/3-4"],
    ["GET", ""],
  ];
  const urls = urlsAt(start);
  for (const [method, altered] of rows)
    assert.equal(urls.verify(method, altered), undefined, altered);
  const other = createSignedUrls({
    key: Buffer.alloc(32, 2),
    publicUrl: () => base,
    now: () => start,
  });
  assert.equal(other.verify("PUT", putTarget), undefined);
});

test("verify() rejects a URL with any character changed", () => {
  const signed = target(put);
  fc.assert(
    fc.property(fc.nat(signed.length - 1), fc.string({ maxLength: 2 }), (at, other) => {
      const altered = signed.slice(0, at) + other + signed.slice(at + 1);
      fc.pre(altered !== signed);
      assert.equal(urlsAt(start).verify("PUT", altered), undefined, altered);
    }),
    { numRuns: 2000 },
  );
});
