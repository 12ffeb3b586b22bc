import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const program = new URL("report.ts", import.meta.url).href;

/** Returns the exit code of a process that reports a figure. */
function exitCodeOf(ratio: string, ratioMax: string): number | null {
  const figure = `{ name: "a", note: "", ratio: ${ratio}, ratioMax: ${ratioMax} }`;
  const source = `(await import(${JSON.stringify(program)})).report([${figure}])`;
  return spawnSync(process.execPath, ["--input-type=module", "--eval", source]).status;
}

test("report() makes a process exit with 1 if a figure misses its limit or is missing", () => {
  assert.equal(exitCodeOf("1", "1"), 0);
  assert.equal(exitCodeOf("1.01", "1"), 1);
  assert.equal(exitCodeOf("NaN", "1"), 1);
});

test("every benchmark compares its figures with limits", () => {
  for (const file of globSync("*.ts", { cwd: import.meta.dirname })) {
    const source = readFileSync(join(import.meta.dirname, file), "utf8");
    // A file that exports something is not a benchmark.
    if (file.endsWith(".test.ts") || /^export /m.test(source)) continue;
    assert.match(source, /\breport\(|process\.exitCode = 1/, file);
  }
});
