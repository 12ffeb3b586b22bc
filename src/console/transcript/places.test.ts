import assert from "node:assert/strict";
import { test } from "node:test";
import { placesOf, withPlace } from "./places.ts";

test("withPlace() moves a transcript to the front with its place in tenths of seconds, or removes it", () => {
  const places = withPlace(withPlace([], "a", 12.345), "b", 7);
  assert.deepEqual(places, [
    ["b", 7],
    ["a", 12.3],
  ]);
  assert.deepEqual(withPlace(places, "a", 20), [
    ["a", 20],
    ["b", 7],
  ]);
  assert.deepEqual(withPlace(places, "b", undefined), [["a", 12.3]]);
  assert.deepEqual(placesOf(JSON.stringify(places)), places);
});

test("withPlace() keeps fifty places and drops the oldest", () => {
  const ids = Array.from({ length: 60 }, (_, at) => `transcripts/${at}`);
  const places = ids.reduce((kept, id) => withPlace(kept, id, 9), placesOf(undefined));
  assert.equal(places.length, 50);
  assert.equal(places.at(-1)?.[0], "transcripts/10");
});

test("placesOf() ignores entries that it cannot read", () => {
  for (const kept of [
    "",
    "{",
    "null",
    "{}",
    '"x"',
    "[1, null, [], [1, 2]]",
    '[["a", "9"], ["b", -1]]',
  ])
    assert.deepEqual(placesOf(kept), [], kept);
  assert.deepEqual(placesOf('[["a", 9], 4, ["b", null], ["c", 1]]'), [
    ["a", 9],
    ["c", 1],
  ]);
});
