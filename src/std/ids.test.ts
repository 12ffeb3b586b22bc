import assert from "node:assert/strict";
import { test } from "node:test";
import { idIn, isId, newId } from "./ids.ts";

test("newId() creates version 7 UUIDs that sort by time", () => {
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

test("newId() uses 74 random bits after the millisecond, so that ids are unique and cannot be predicted", () => {
  const ids = Array.from({ length: 100_000 }, () => newId(0));
  assert.equal(new Set(ids).size, ids.length);
  const count = 10_000;
  const bytes = ids.slice(0, count).map((id) => Buffer.from(id.replaceAll("-", ""), "hex"));
  // The time has 48 bits, the version 4 and the variant 2.
  const isRandom = (bit: number) => bit >= 52 && bit !== 64 && bit !== 65;
  const bits = Array.from({ length: 128 }, (_, bit) => bit).filter(isRandom);
  assert.equal(bits.length, 74);
  for (const bit of bits) {
    const [byte, shift] = [bit >> 3, 7 - (bit & 7)];
    const at = (id: Buffer): number => (id.readUInt8(byte) >> shift) & 1;
    const ones = bytes.filter((id) => at(id) === 1).length;
    const changes = bytes.filter((id, index) => at(id) !== at(bytes[index - 1] ?? id)).length;
    // The tolerance is fifteen standard deviations of a fair coin.
    for (const half of [ones, changes]) assert.ok(Math.abs(half - count / 2) < 750, `bit ${bit}`);
  }
});

test("idIn() accepts exactly one id in its collection", () => {
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
