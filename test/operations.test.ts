// docs/operations.md names settings and files that exist.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { describeConfig } from "../src/config.ts";

const docs = resolve(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "operations.md"), "utf8");

test("docs/operations.md names only existing settings", () => {
  const known = describeConfig({});
  const named = new Set(page.match(/\b(?:HLUST|DATABASE|S3)_[A-Z0-9_]*[A-Z0-9]\b/g));
  assert.ok(named.size > 10);
  const unknown = [...named].filter((name) => !known.includes(`${name}\n`));
  // This is the reason of an error, not a setting.
  assert.deepEqual(unknown, ["DATABASE_UNAVAILABLE"]);
});

test("docs/operations.md shows existing files", () => {
  const shown = Array.from(page.matchAll(/\]\((operations\/[^)]+)\)/g), ([, path = ""]) => path);
  assert.ok(shown.length > 2);
  for (const path of shown) assert.ok(existsSync(join(docs, path)), path);
});
