import assert from "node:assert/strict";
import { test } from "node:test";
import { Listened } from "./listened.ts";

test("what is played is one stretch until the user seeks", () => {
  const listened = new Listened();
  for (const seconds of [1, 1.5, 2]) listened.note(seconds, false);
  listened.note(10, true);
  for (const seconds of [10, 11, 12.5]) listened.note(seconds, false);
  assert.deepEqual(listened.take(), [
    { start: 1, end: 2 },
    { start: 10, end: 12.5 },
  ]);
});

test("after a report, the next stretch begins where the last one ended", () => {
  const listened = new Listened();
  for (const seconds of [0, 15]) listened.note(seconds, false);
  assert.deepEqual(listened.take(), [{ start: 0, end: 15 }]);
  assert.deepEqual(listened.take(), []);
  listened.note(20, false);
  assert.deepEqual(listened.take(), [{ start: 15, end: 20 }]);
});

test("a report just after the start of a stretch does not lose the start", () => {
  const listened = new Listened();
  for (const seconds of [0, 0.022]) listened.note(seconds, false);
  assert.deepEqual(listened.take(), []);
  listened.note(2, false);
  assert.deepEqual(listened.take(), [{ start: 0, end: 2 }]);
});

test("seeking without playing is not listening, nor is a stretch of one frame", () => {
  const listened = new Listened();
  listened.note(3, true);
  listened.note(3, false);
  listened.note(8, true);
  listened.note(8.02, false);
  listened.note(1, true);
  assert.deepEqual(listened.take(), []);
});

test("stretches that could not be reported are taken again, before later ones", () => {
  const listened = new Listened();
  for (const seconds of [0, 4]) listened.note(seconds, false);
  listened.restore(listened.take());
  listened.note(6, false);
  assert.deepEqual(listened.take(), [
    { start: 0, end: 4 },
    { start: 4, end: 6 },
  ]);
});
