import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const shown = resolve(import.meta.dirname, "../docs/operations");

/**
 * A configuration that docs/operations shows, with each text on the left replaced by the one on the right wherever it stands. Fails
 * where the configuration has a text no more, so that no test runs on something else than what is shown.
 */
export function shownConfig(name: string, replacements: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(shown, name), "utf8");
  for (const [from, to] of Object.entries(replacements)) {
    assert.ok(text.includes(from), `docs/operations/${name} has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return text;
}
