import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readKnownChecksums, recordChecksum } from "./known-checksums.ts";

test("concurrently recorded checksums are all kept", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-checksums-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.deepEqual(await readKnownChecksums(folder), {});
  const urls = Array.from({ length: 20 }, (_, at) => `https://models.example/${at}`);
  const sha256 = "a".repeat(64);
  await Promise.all(urls.map((url) => recordChecksum(folder, { url, sha256 })));
  const expected = Object.fromEntries(urls.map((url) => [url, sha256]));
  assert.deepEqual(await readKnownChecksums(folder), expected);
  for (const text of ["", "[1]", "null", '{"x": "short"}', '{"x": null}']) {
    writeFileSync(join(folder, ".checksums.json"), text);
    await assert.rejects(readKnownChecksums(folder), /is not a valid checksum file/, text);
  }
});
