import assert from "node:assert/strict";
import { test } from "node:test";
import { uniqueNames } from "./zip-transcripts.ts";

test("files with the same name in any case get numbers, so that none replaces another", () => {
  const unique = uniqueNames();
  const names = ["a.txt", "A.txt", "a (2).txt", "a.txt", "b.docx", "b.txt", ".txt"];
  assert.deepEqual(names.map(unique), [
    "a.txt",
    "A (2).txt",
    "a (2) (2).txt",
    "a (3).txt",
    "b.docx",
    "b.txt",
    ".txt",
  ]);
});
