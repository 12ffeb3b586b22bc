import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { ServiceError } from "../std/service-error.ts";
import { fieldExtent, type SoughtField } from "./field-extent.ts";

const sought: SoughtField = {
  names: new Set(["list", "the_list"]),
  kind: "list",
  itemsMax: 100_000,
};

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

const found = (text: string, what = sought): string | undefined => {
  const bytes = Buffer.from(text);
  const extent = fieldExtent(bytes, what);
  return extent && bytes.toString("utf8", extent.start, extent.end);
};

test("fieldExtent() finds a list", () => {
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
  ];
  for (const [text, list] of rows) assert.equal(found(text), list, text.slice(0, 80));
});

test("fieldExtent() also finds an object", () => {
  const object: SoughtField = { names: sought.names, kind: "object" };
  assert.equal(found('{"a":[1],"list":{"list":[1,2]}}', object), '{"list":[1,2]}');
  assert.equal(found('{"list":[]}', object), undefined);
});

test("fieldExtent() refuses a list at the first element above the limit", () => {
  const end = "x".repeat(100);
  const rows: [text: string, message: RegExp][] = [
    [`{"list":[${"{},".repeat(100_000)}${end}`, /^the_list: has more than 100000 the_list/],
    [`{"list":[[${"[],".repeat(500_000)}${end}`, /has more than 500000 objects and lists$/],
    [`{"a":[${"{},".repeat(500_000)}${end}`, /has more than 500000 objects and lists$/],
  ];
  for (const [text, message] of rows) {
    const find = () => fieldExtent(Buffer.from(text), sought);
    assert.throws(find, (error) => error instanceof ServiceError && message.test(error.message));
  }
  assert.ok(found(`{"list":[${"1,".repeat(99_999)}1]}`));
});

test("fieldExtent() finds the list that JSON.parse() reads", () => {
  const json = fc.dictionary(fc.constantFrom("a", "b", "list", "é"), fc.jsonValue({ maxDepth: 4 }));
  const space = fc.constantFrom(0, 1, 3);
  fc.assert(
    fc.property(json, space, (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      const list = Array.isArray(value["list"]) ? value["list"] : undefined;
      assert.deepEqual(jsonIn(found(text)), list && JSON.parse(JSON.stringify(list)));
    }),
    { numRuns: runs(2_000) },
  );
});

test("fieldExtent() accepts any bytes", () => {
  const piece = fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "list", " ", "1", "\n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const bytes = Buffer.from(pieces.join(""));
      const extent = fieldExtent(bytes, sought);
      assert.ok(!extent || (extent.start < extent.end && extent.end <= bytes.length));
    }),
    { numRuns: runs(5_000) },
  );
});
