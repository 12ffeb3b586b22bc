import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "..");

test("src/gen is what proto/ generates", () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-gen-"));
  try {
    const path = `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`;
    const env = { ...process.env, PATH: path };
    execFileSync("buf", ["lint"], { cwd: root, env });
    execFileSync("buf", ["generate", "--output", folder], { cwd: root, env });
    const fresh = globSync("**/*.ts", { cwd: join(folder, "src/gen") }).toSorted();
    const kept = globSync("**/*.ts", { cwd: join(root, "src/gen") }).toSorted();
    assert.deepEqual(kept, fresh, "run npm run gen");
    for (const file of fresh) {
      const [now, then] = [join(root, "src/gen", file), join(folder, "src/gen", file)];
      assert.equal(
        readFileSync(now, "utf8"),
        readFileSync(then, "utf8"),
        `${file}: run npm run gen`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
