// docs/operations.md names settings and files that exist.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { describeSettings } from "../src/settings/describe-settings.ts";
import { isLiveSetting, settingTexts } from "../src/settings/setting-groups.ts";

const docs = resolve(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "operations.md"), "utf8");

test("docs/operations.md names only existing settings", () => {
  const known = describeSettings({});
  const named = new Set(page.match(/\b(?:HLUST|DATABASE|S3)_[A-Z0-9_]*[A-Z0-9]\b/g));
  assert.ok(named.size > 10);
  // Secrets can be in files.
  const isKnown = (name: string) =>
    known.includes(
      `${name.replace(/^(DATABASE_URL|HLUST_METRICS_TOKEN|HLUST_ENGINE_CREDENTIAL)_FILE$/, "$1")}\n`,
    );
  const unknown = [...named].filter((name) => !isKnown(name));
  // This is the reason of an error, not a setting.
  assert.deepEqual(unknown, ["DATABASE_UNAVAILABLE"]);
});

test("docs/operations.md shows existing files", () => {
  const shown = Array.from(page.matchAll(/\]\((operations\/[^)]+)\)/g), ([, path = ""]) => path);
  assert.ok(shown.length > 2);
  for (const path of shown) assert.ok(existsSync(join(docs, path)), path);
});

test("docs/operations.md names each setting that SIGHUP changes, and no other one", () => {
  const [, table = ""] = /\| setting \| counts from then on for \|([^]*?)\n\n/.exec(page) ?? [];
  const named = table.match(/\bHLUST_[A-Z_]*[A-Z]\b/g) ?? [];
  assert.deepEqual(named.toSorted(), [...settingTexts({}).keys()].filter(isLiveSetting).toSorted());
});
