import assert from "node:assert/strict";
import { test } from "node:test";
import { newList, placeOf, rowCount, tokenOf, withPage } from "./list-pages.ts";

const read = [
  { rows: 3, next: "b" },
  { rows: 2, next: "c" },
  { rows: 1, next: undefined },
].reduce((list, answer, page) => withPage(list, page, answer), newList(1, ""));

test("withPage() adds one page after another", () => {
  assert.equal(tokenOf(newList(1, ""), 0), "");
  assert.deepEqual([rowCount(newList(1, "")), rowCount(read)], [0, 6]);
  assert.deepEqual(
    [0, 1, 2, 3].map((page) => tokenOf(read, page)),
    ["", "b", "c", undefined],
  );
  assert.equal(withPage(read, 3, { rows: 1, next: undefined }), read);
  assert.equal(withPage(read, 1, { rows: 2, next: "c" }), read);
});

test("placeOf() finds the page of each row", () => {
  const places = [0, 2, 3, 4, 5].map((index) => placeOf(read, index));
  assert.deepEqual(
    places.map((place) => [place?.page, place?.row]),
    [
      [0, 0],
      [0, 2],
      [1, 0],
      [1, 1],
      [2, 0],
    ],
  );
  assert.deepEqual([placeOf(read, 6), placeOf(read, -1)], [undefined, undefined]);
});

test("withPage() moves later rows up if a page has lost some or all of its rows", () => {
  const shorter = withPage(withPage(read, 0, { rows: 2, next: "b" }), 1, { rows: 0, next: "c" });
  assert.equal(rowCount(shorter), 3);
  assert.deepEqual(placeOf(shorter, 2), { page: 2, row: 0 });
  assert.equal(tokenOf(shorter, 2), "c");
});
