import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "..");
/** Elements of a few words, in which a search costs nothing. */
const small = new Set([".transcript-row:has(.title:hover)"]);

test("no style has browsers search a long text each time that something comes into the page", () => {
  const files = globSync("**/*.css", { cwd: folder });
  assert.ok(files.length > 20, "there are styles");
  const searching = files.flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/\S*:has\((?!>)[^)]*\)/g)]
      .map(([found]) => found)
      .filter((found) => !small.has(found))
      .map((found) => `${file}: ${found}`),
  );
  assert.deepEqual(searching, [], "use a child (:has(> .name)) or an attribute (useRootMark())");
});
