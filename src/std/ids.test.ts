import assert from "node:assert/strict";
import { test } from "node:test";
import { idIn, isId, newId } from "./ids.ts";

test("newId() makes version 7 UUIDs that sort by time", () => {
  const ids = Array.from({ length: 100 }, (_, index) => newId(1_700_000_000_000 + index));
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    assert.ok(isId(id));
    assert.equal(id[14], "7");
    assert.match(id[19] ?? "", /[89ab]/);
  }
  assert.equal(newId(0x0123_4567_89ab).slice(0, 13), "01234567-89ab");
});

test("idIn() takes exactly one id of its own collection", () => {
  const id = newId();
  assert.equal(idIn("transcripts", `transcripts/${id}`), id);
  for (const name of [
    id,
    `transcripts/${id}/versions`,
    `transcripts/${id.toUpperCase()}`,
    `transcript/${id}`,
    "transcripts/",
  ]) {
    assert.equal(idIn("transcripts", name), undefined, name);
  }
});
