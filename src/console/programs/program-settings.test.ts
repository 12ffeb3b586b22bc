import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { programSettings } from "./program-settings.ts";

test("docs/dialects.md shows what the page shows for each program", () => {
  const file = join(import.meta.dirname, "../../../docs/dialects.md");
  const [, section = ""] = readFileSync(file, "utf8").split("\n## Use it with\n");
  const [own = ""] = section.split("\n## ");
  const shown = own
    .split("\n### ")
    .slice(1)
    .map((program) => {
      const [, name, where = "", paste] =
        /^(.+)\n\n([^]+?)\n\n```\n([^]+?)\n```\s*$/.exec(program) ?? [];
      return { name, where: where.replaceAll("\n", " "), paste };
    });
  const expected = programSettings("https://speech.example").map(({ name, where, paste }) => {
    return { name, where: where.en, paste };
  });
  assert.deepEqual(shown, expected);
});
