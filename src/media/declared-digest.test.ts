import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { declaredDigest } from "./declared-digest.ts";

const hashOf = (name: string): string => createHash(name).update("media").digest("base64");
const sha256 = hashOf("sha256");
const sha512 = hashOf("sha512");
const md5 = hashOf("md5");

test("declaredDigest() returns the strongest valid checksum", () => {
  const rows: readonly (readonly [Record<string, string>, string | undefined])[] = [
    [{}, undefined],
    [{ "repr-digest": `sha-256=:${sha256}:` }, `sha256 ${sha256} Repr-Digest`],
    [{ "repr-digest": `sha-512=:${sha512}:` }, `sha512 ${sha512} Repr-Digest`],
    [{ "repr-digest": `sha-512=:${sha512}:, sha-256=:${sha256}:` }, `sha256 ${sha256} Repr-Digest`],
    [{ "repr-digest": `unixsum=:AA==:,sha-256=:${sha256}:;a=1` }, `sha256 ${sha256} Repr-Digest`],
    [{ "content-digest": `sha-256=:${sha256}:` }, `sha256 ${sha256} Content-Digest`],
    [{ digest: `MD5=${md5},SHA-256=${sha256}` }, `sha256 ${sha256} Digest`],
    [{ digest: `sha-512=${sha512}` }, `sha512 ${sha512} Digest`],
    [{ "content-md5": md5 }, `md5 ${md5} Content-MD5`],
    [{ "x-goog-hash": `crc32c=n03x6A==, md5=${md5}` }, `md5 ${md5} X-Goog-Hash`],
    [{ "x-goog-hash": "crc32c=n03x6A==" }, undefined],
    [{ "x-goog-hash": `md5=${md5}`, "x-goog-stored-content-encoding": "gzip" }, undefined],
    [
      { "x-goog-hash": `md5=${md5}`, "x-goog-stored-content-encoding": "identity" },
      `md5 ${md5} X-Goog-Hash`,
    ],
    [{ "content-md5": md5, "repr-digest": `sha-256=:${sha256}:` }, `sha256 ${sha256} Repr-Digest`],
    [
      { "repr-digest": `sha-256=:${sha256.slice(4)}:`, "content-md5": md5 },
      `md5 ${md5} Content-MD5`,
    ],
    [{ "repr-digest": `xsha-256=:${sha256}:` }, undefined],
    [{ "content-md5": `${md5} or so` }, undefined],
    [{ digest: "" }, undefined],
  ];
  for (const [headers, expected] of rows) {
    const found = declaredDigest((name) => headers[name]);
    const words = found && `${found.algorithm} ${found.base64} ${found.field}`;
    assert.equal(words, expected, JSON.stringify(headers));
  }
});
