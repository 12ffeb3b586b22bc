// docs/operations.md names settings and files that exist, and docs/operations/settings.md has all
// settings.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { settingsPage, settingsPagePath } from "../script/settings-page.ts";
import { databaseSettings } from "../src/settings/database-settings.ts";
import { describeSettings } from "../src/settings/describe-settings.ts";
import { isLiveSetting, settingGroups, settingTexts } from "../src/settings/setting-groups.ts";

const docs = resolve(import.meta.dirname, "../docs");
const page = readFileSync(join(docs, "operations.md"), "utf8");

const settings = Object.values(settingGroups).flat();
const secrets = settings.filter(({ secret }) => secret).map(({ name }) => name);

test("docs/operations.md names only existing settings", () => {
  const known = describeSettings({});
  const named = new Set(page.match(/\b(?:HLUST|DATABASE|S3)_[A-Z0-9_]*[A-Z0-9]\b/g));
  assert.ok(named.size > 10);
  const files = new Set(secrets.map((name) => `${name}_FILE`));
  const isKnown = (name: string) => files.has(name) || known.includes(`${name}\n`);
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

test("docs/operations/settings.md has every setting, as `node script/settings-page.ts` writes it", () => {
  assert.equal(readFileSync(settingsPagePath, "utf8"), settingsPage());
});

/** Returns the text of a passage, in one line. */
function passage(begin: string, end: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  assert.ok(from >= 0 && to > from, `${begin} ... ${end}`);
  return page.slice(from, to).replaceAll(/\s+/g, " ");
}

test("docs/operations.md names each group of settings, and each secret", () => {
  const [, groups = ""] =
    /The groups are ([a-z\d, ]+), each with/.exec(passage("- The groups are", "- Settings with")) ??
    [];
  assert.deepEqual(groups.split(/, | and /).toSorted(), Object.keys(settingGroups).toSorted());
  const [, named = ""] = /\((.+?)\)/.exec(passage("**Secrets** (", "\n\n")) ?? [];
  assert.deepEqual(named.split(/,? (?:and )?/).toSorted(), secrets.toSorted());
});

test("the defaults of the database that docs/operations.md names are those of the program", () => {
  const text = passage("## PostgreSQL", "### PgBouncer");
  for (const { name, fallback } of Object.values(databaseSettings)) {
    if (!/^\d+$/.test(fallback)) continue;
    const stated = Array.from(text.matchAll(new RegExp(`${name} \\((\\d+)\\)`, "g")), ([, n]) => n);
    assert.ok(stated.length > 0, name);
    assert.deepEqual([...new Set(stated)], [fallback], name);
  }
});
