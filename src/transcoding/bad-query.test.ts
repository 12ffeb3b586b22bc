// Tests that the transcoder throws only ServiceError for any query, and reads every valid query
// like the equivalent body.
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  anyTranscoder,
  bindings,
  outcome,
  pathOf,
  values,
} from "../../test/fixtures/any-transcoder.ts";
import { MSchema } from "../../test/gen/transcoding_pb.ts";
import { mutated } from "../../test/fixtures/mutated.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import { encodeFully } from "./percent-encoding.ts";
import { readJson } from "./read-json.ts";

/**
 * Leaf fields by their names in a query, with valid texts for them. A list is a repeated parameter.
 */
const parameters: readonly (readonly [name: string, ...texts: string[]])[] = [
  ["s", "", "x", "þ&=+%", "a b", "\u0000", "😁"],
  ["i32", "0", "-7", "1e2", "2147483647"],
  ["i64", "-9223372036854775808", "5"],
  ["u32", "4294967295"],
  ["u64", "18446744073709551615"],
  ["f", "1.5", "NaN", "-Infinity"],
  ["d", "1e300", "-0.5"],
  ["b", "true", "false"],
  ["by", "AQI=", "-_8", ""],
  ["e", "RED", "2", "-1", "77"],
  ["opt", ""],
  ["opti", "0"],
  ["displayName", "a"],
  ["json_thing", "a"],
  ["name", "__proto__"],
  ["ts", "2026-11-20T10:11:12.345Z", "0001-01-01T00:00:00Z"],
  ["dur", "1.5s", "-0.000000001s"],
  ["mask", "metadata.subject,segments", ""],
  ["wd", "2"],
  ["wi64", "-5"],
  ["wb", "true"],
  ["ws", "", "x"],
  ["wby", "AQI"],
  ["sub.s", "x"],
  ["sub.sub.sub.display_name", "x"],
  ["sub.wu32", "7"],
  ["item.text", "x"],
  ["item.child.child.n", "-5"],
  ["rs", "", "x", "y"],
  ["ri", "1", "-1"],
  ["re", "GREEN", "2"],
  ["rb", "true"],
  ["rby", "AA"],
  ["rts", "2026-11-20T10:11:12Z"],
  ["rwu64", "1"],
  ["sub.item.tags", "a", ""],
];
const members: typeof parameters = [
  ["os", "x", ""],
  ["ob", "false"],
  ["om.text", "x"],
  ["ots", "2026-11-20T10:11:12Z"],
  ["ou", "0"],
];

const isList = (name: string): boolean => /^r|tags$/.test(name);

const goodQuery = (() => {
  const pairOf = (table: typeof parameters) =>
    fc
      .constantFrom(...table)
      .chain(([name, ...texts]) =>
        fc.constantFrom(...texts).map((text): [string, string] => [name, text]),
      );
  const pairs = fc
    .tuple(fc.array(pairOf(parameters), { maxLength: 6 }), fc.option(pairOf(members)))
    .map(([all, member]) => {
      const first = all.filter(
        ([name], at) => isList(name) || all.findIndex((one) => one[0] === name) === at,
      );
      return member === null ? first : [...first, member];
    });
  return fc.tuple(pairs, fc.boolean(), fc.boolean()).map(([pairs, plus, raw]) => {
    const encode = (text: string): string => {
      if (raw && /^[\w.]*$/.test(text)) return text;
      return plus ? encodeFully(text).replaceAll("%20", "+") : encodeFully(text);
    };
    return { pairs, query: pairs.map((pair) => pair.map(encode).join("=")).join("&") };
  });
})();

/** The JSON body with the same meaning as the pairs. */
function bodyOf(pairs: readonly (readonly [name: string, text: string])[]): JsonObject {
  const body: JsonObject = {};
  for (const [name, text] of pairs) {
    const path = name.split(".");
    let holder = body;
    for (const part of path.slice(0, -1)) {
      const below = (holder[part] ??= {});
      assert.ok(typeof below === "object" && below !== null && !Array.isArray(below));
      holder = below;
    }
    const last = path.at(-1) ?? "";
    const isBool = ["b", "rb", "wb", "ob"].includes(last);
    const isNumber = /^r?e$/.test(last) && /^-?\d+$/.test(text);
    const value: JsonValue = isBool ? text === "true" : isNumber ? Number(text) : text;
    const list = holder[last];
    if (Array.isArray(list)) list.push(value);
    else holder[last] = /^r|tags$/.test(last) ? [value] : value;
  }
  return body;
}

test("bind() reads a valid query like the equivalent body, and refuses any other query", () => {
  const pieces = [
    "&",
    "=",
    "+",
    "%",
    "%41",
    "%ff",
    "%C3",
    ".",
    "[]",
    "[0]",
    "sub.",
    "item.",
    "__proto__",
    "constructor.",
    "toString",
    "&s=x",
    "&s=y&",
    "ou=1&",
    "$x",
    "token=",
    "\u00ff",
    "\u00c3\u00be",
    "þ",
    "\u0000",
    "1",
    "-",
    "e",
    "null",
    " ",
    "#",
    "?",
    ";",
  ];
  const counts = { good: 0, taken: 0, refused: 0 };
  fc.assert(
    fc.property(
      goodQuery,
      mutated(
        goodQuery.map(({ query }) => query),
        pieces,
      ),
      ({ pairs, query }, other) => {
        const bind = (query: string): Message | number =>
          outcome(() => anyTranscoder.bind(anyTranscoder.route("GET", `/q?${query}`), undefined));
        const message = bind(query);
        assert.notEqual(typeof message, "number", query);
        assert.deepEqual(message, readJson(MSchema, JSON.stringify(bodyOf(pairs))), query);
        counts.good++;
        const once = pairs.find(([name]) => !isList(name));
        if (once) assert.equal(bind(`${query}&${once.map(encodeFully).join("=")}`), 400, query);
        const found = bind(other);
        if (typeof found === "number") assert.equal(found, 400);
        counts[typeof found === "number" ? "refused" : "taken"]++;
      },
    ),
    { numRuns: runs(10_000) },
  );
  assert.ok(counts.taken > runs(3_000) && counts.refused > runs(2_000), JSON.stringify(counts));
});

test("bind() accepts or refuses a query of any bytes, for any binding", () => {
  const targets = fc.tuple(
    bindings,
    fc.array(values, { minLength: 1, maxLength: 4 }),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(targets, fc.boolean(), ([binding, fills, query], hasBody) => {
      const routed = outcome(() =>
        anyTranscoder.route(binding.httpMethod, `${pathOf(binding, fills)}?${query}`),
      );
      if (typeof routed === "number") return;
      const body = hasBody ? Buffer.from("{}") : undefined;
      const found = outcome(() => anyTranscoder.bind(routed, body));
      assert.ok(typeof found === "object" || found === 400);
    }),
    { numRuns: runs(10_000) },
  );
});
