import assert from "node:assert/strict";
import { join, resolve, sep } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { mutated } from "../../test/fixtures/mutated.ts";
import { archivePath } from "./archive-path.ts";

test("archivePath() returns the names in a path", () => {
  const rows: [path: string, names: readonly string[] | RegExp][] = [
    ["a/b.onnx", ["a", "b.onnx"]],
    ["./a//b/./c/", ["a", "b", "c"]],
    ["./", []],
    ["þýðing/ö", ["þýðing", "ö"]],
    ["...", ["..."]],
    ["a/..b", ["a", "..b"]],
    ["..", /has "\.\." in its path/],
    ["a/..", /has "\.\." in its path/],
    ["a/../b", /has "\.\." in its path/],
    ["/a", /absolute/],
    ["//a", /absolute/],
    ["c:a", /absolute/],
    ["a\0b", /character/],
    ["a\\b", /character/],
    ["a\nb", /character/],
    ["þ".repeat(128), /longer than 255/],
    ["a/".repeat(513), /longer than 1024/],
  ];
  for (const [path, expected] of rows) {
    const found = archivePath(path);
    if (expected instanceof RegExp) assert.match(String(found), expected, path);
    else assert.deepEqual(found, expected, path);
  }
});

test("every path that is not rejected stays below the folder", () => {
  const parts = [
    "..",
    "/",
    "../",
    "/..",
    "./",
    "\\",
    "\0",
    "C:",
    "~",
    "%2e%2e",
    "..;",
    " ..",
    "\n",
  ];
  const path = mutated(fc.stringMatching(/^[a-z./]{0,40}$/), parts, 4);
  const folder = resolve("/models/staged");
  let kept = 0;
  fc.assert(
    fc.property(fc.oneof(path, fc.string({ unit: "binary" })), (path) => {
      const names = archivePath(path);
      if (typeof names === "string") return;
      kept += 1;
      const below = join(folder, ...names);
      assert.ok(names.length === 0 ? below === folder : below.startsWith(folder + sep), path);
      assert.ok(names.every((name) => !/[/\\\0]/.test(name) && name !== "." && name !== ".."));
      assert.equal(resolve(below), below);
    }),
    { numRuns: 3000 },
  );
  assert.ok(kept > 300, `${kept}`);
});
