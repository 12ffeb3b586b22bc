import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { LiteralTable } from "./literal-table.ts";

test("LiteralTable finds the keys that a Map has, wherever they stand in a text", () => {
  const name = fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom("a", "b", "é", "/") });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 30 }), name, fc.string(), (keys, other, around) => {
      const table = new LiteralTable<number>();
      const map = new Map<string, number>();
      for (const [value, key] of keys.entries()) {
        table.set(key, value);
        map.set(key, value);
      }
      assert.equal(table.size, map.size);
      assert.deepEqual([...table], [...map]);
      for (const key of [...keys, other]) {
        assert.equal(table.get(key), map.get(key));
        const end = around.length + key.length;
        assert.equal(table.find(around + key + around, around.length, end), map.get(key));
      }
    }),
    { numRuns: 1000 },
  );
});

test("LiteralTable takes and finds many keys, also those that are alike, in linear time", () => {
  const rows: [kind: string, key: (n: number) => string][] = [
    ["numbers at the end", (n) => `thing${n}`],
    [
      "numbers where no character is looked at",
      (n) => `v1/${`${n}`.padStart(7, "0")}/of-the-things-here`,
    ],
  ];
  for (const [kind, key] of rows) {
    assertLinear(kind, 2_500, {
      input: (size) => Array.from({ length: size }, (_, n) => key(n)),
      run: (keys) => {
        const table = new LiteralTable<number>();
        for (const [n, each] of keys.entries()) table.set(each, n);
        for (const [n, each] of keys.entries()) {
          assert.equal(table.find(each, 0, each.length), n, kind);
        }
      },
    });
  }
});
