import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "..");

/** Returns the functions, classes and constants that a file exports under their own names. */
function exportsOf(text: string): string[] {
  const exported = /^export (?:async )?(?:function\*?|class|const|let) (\w+)/gm;
  return Array.from(text.matchAll(exported), ([, name = ""]) => name);
}

/** Returns the names in the braces of imports. */
function importedNames(text: string): string[] {
  const braces = text.matchAll(/^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from /gm);
  return Array.from(braces, ([, names = ""]) => names.match(/\w+/g) ?? []).flat();
}

test("every exported function, class and constant is used by another file", () => {
  const written = globSync("{src,test,bench,script,tools}/**/*.{ts,tsx}", { cwd: root }).filter(
    (file) => !/^(?:src|test)\/gen\//.test(file),
  );
  const texts = new Map(written.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  assert.ok(texts.size > 2_000);
  const imported = new Set(texts.values().flatMap(importedNames));
  const late = [...texts.values()].filter((text) => text.includes("import("));
  const unused = [...texts].flatMap(([file, text]) =>
    exportsOf(text)
      .filter(
        (name) => !imported.has(name) && !late.some((its) => its !== text && its.includes(name)),
      )
      .map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(unused, []);
});
