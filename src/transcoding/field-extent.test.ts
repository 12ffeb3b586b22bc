import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/property-runs.ts";
import { fieldExtent, lastFieldExtent } from "./field-extent.ts";

const names = new Set(["list", "the_list"]);

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const found = (find: typeof fieldExtent, text: string): string | undefined => {
  const bytes = Buffer.from(text);
  const extent = find(bytes, names);
  return extent && bytes.toString("utf8", extent.start, extent.end);
};

test("fieldExtent() finds the list", () => {
  const rows: [text: string, list: string | undefined][] = [
    ['{"list":[]}', "[]"],
    [' { "a" : "]" , "list" : [ {"b":"\\"]"} ] , "c":{"list":1} } ', '[ {"b":"\\"]"} ] '],
    ['{"the_list":[[1],[2]],"a":[3]}', "[[1],[2]]"],
    ['{"a":"é","list":["ð"]}', '["ð"]'],
    ["{}", undefined],
    ['{"a":{"list":[]}}', undefined],
    ['{"list":{}}', undefined],
    ['{"list":null}', undefined],
    ['{"list":[],"list":[]}', undefined],
    ['{"list":[],"the_list":[]}', undefined],
    ['{"\\u006cist":[],"list":[]}', undefined],
    ['{"list":[', undefined],
    ['{"list":["', undefined],
    ['[{"list":[]}]', undefined],
    [`{"list":${"[".repeat(65)}${"]".repeat(65)}}`, undefined],
    [`{"list":[${"{},".repeat(500_000)}{}]}`, undefined],
  ];
  for (const [text, list] of rows) assert.equal(found(fieldExtent, text), list, text.slice(0, 80));
});

test("lastFieldExtent() takes the last bracket, where there is one way to see it", () => {
  const rows: [text: string, list: string | undefined][] = [
    ['{"a":[1],"list":[[{}], "]" ] } ', '[[{}], "]" ]'],
    ['{"list":[],"a":1}', undefined],
    ['{"list":[1],"a":{}}', undefined],
    ['{"list":[1],"list":[2]}', undefined],
    ['{"list":[1]', undefined],
    ['{"a":"list","b":"x"}', undefined],
  ];
  for (const [text, list] of rows) assert.equal(found(lastFieldExtent, text), list, text);
});

test("what is found is the list that JSON.parse has", () => {
  const json = fc.dictionary(fc.constantFrom("a", "b", "list", "é"), fc.jsonValue({ maxDepth: 4 }));
  const space = fc.constantFrom(0, 1, 3);
  fc.assert(
    fc.property(json, space, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const list = Array.isArray(value["list"]) ? value["list"] : undefined;
      const exact = jsonIn(found(fieldExtent, text));
      assert.deepEqual(exact, list && JSON.parse(JSON.stringify(list)));
      // Up to the end of another list it is no JSON.
      const quick = jsonIn(found(lastFieldExtent, text));
      if (quick !== undefined) assert.deepEqual(quick, exact);
    }),
    { numRuns: runs(2_000) },
  );
});

test("bytes of any kind are looked through to no harm", () => {
  const piece = fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "list", " ", "1", "\n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const bytes = Buffer.from(pieces.join(""));
      for (const find of [fieldExtent, lastFieldExtent]) {
        const extent = find(bytes, names);
        assert.ok(!extent || (extent.start < extent.end && extent.end <= bytes.length));
      }
    }),
    { numRuns: runs(5_000) },
  );
});
