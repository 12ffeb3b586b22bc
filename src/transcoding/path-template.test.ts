import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mutated } from "../../test/fixtures/mutated.ts";
import { runs } from "../../test/fixtures/property-runs.ts";
import { parsePathTemplate, type PathTemplate, PathTemplateError } from "./path-template.ts";
import { encodeFully, isDecodable } from "./percent-encoding.ts";

test("parsePathTemplate() reads segments, variables and the verb", () => {
  assert.deepEqual(parsePathTemplate("/v1/{a.b=x%2Fy/*}/{c}/{rest=**}:do%20it"), {
    text: "/v1/{a.b=x%2Fy/*}/{c}/{rest=**}:do%20it",
    segments: [
      { kind: "literal", text: "v1" },
      { kind: "literal", text: "x/y" },
      { kind: "*" },
      { kind: "*" },
      { kind: "**" },
    ],
    variables: [
      { fieldPath: ["a", "b"], start: 1, end: 3, offset: 5, multi: true },
      { fieldPath: ["c"], start: 3, end: 4, offset: 19, multi: false },
      { fieldPath: ["rest"], start: 4, end: -1, offset: 23, multi: true },
    ],
    verb: "do it",
  });
});

test("parsePathTemplate() reports the column, what was expected and what was found", () => {
  const rows: [template: string, column: number, expected: string, found: string][] = [
    ["", 1, '"/"', "the end of the template"],
    ["v1/x", 1, '"/"', '"v1/x"'],
    ["/", 2, 'a literal, "*", "**" or "{"', "the end of the template"],
    ["/a/", 4, 'a literal, "*", "**" or "{"', "the end of the template"],
    ["/a//b", 4, 'a literal, "*", "**" or "{"', '"/b"'],
    ["/a b", 3, '"/", ":" or the end of the template', '" b"'],
    ["/a*", 3, '"/", ":" or the end of the template', '"*"'],
    ["/***", 4, '":" or the end of the template', '"*"'],
    ["/**/a", 4, '":" or the end of the template', '"/a"'],
    ["/a:", 4, "a verb", "the end of the template"],
    ["/a:b:c", 5, "the end of the template after the verb", '":c"'],
    ["/a:b/c", 5, "the end of the template after the verb", '"/c"'],
    ["/a%2", 3, '"/", ":" or the end of the template', '"%2"'],
    ["/%ff", 2, "escapes that are UTF-8", '"%ff"'],
    ["/þ", 2, 'a literal, "*", "**" or "{"', '"þ"'],
    ["/{", 3, "a field name", "the end of the template"],
    ["/{1}", 3, "a field name", '"1}"'],
    ["/{a.}", 5, "a field name", '"}"'],
    ["/{a", 4, '".", "=" or "}"', "the end of the template"],
    ["/{a-b}", 4, '".", "=" or "}"', '"-b}"'],
    ["/{a=}", 5, 'a literal, "*" or "**" (variables do not nest)', '"}"'],
    ["/{a=b/{c}}", 7, 'a literal, "*" or "**" (variables do not nest)', '"{c}}"'],
    ["/{a=b:c}", 6, '"/" or "}"', '":c}"'],
    ["/{a=**/b}", 7, '"}"', '"/b}"'],
    ["/{a=**}/b", 8, '":" or the end of the template', '"/b"'],
    ["/{a}b", 5, '"/", ":" or the end of the template', '"b"'],
    ["/{a}/{a}", 7, "a field that no earlier variable binds", '"a}"'],
  ];
  for (const row of rows) {
    const [template] = row;
    assert.throws(
      () => parsePathTemplate(template),
      (error) => {
        assert.ok(error instanceof PathTemplateError, template);
        assert.deepEqual([template, error.column, error.expected, error.found], row);
        return true;
      },
    );
  }
});

/**
 * Valid templates with variables f0, f1.g, ..., except that one in ten binds a field twice and is
 * invalid.
 */
const goodTemplate = (() => {
  const literal = fc.constantFrom("v1", "a", "b.c", "x~y", "a=b&c", "%2F", "%C3%BE", "d'(e)", "@");
  const inner = fc.constantFrom("*", "a/*", "a/*/b", "a", "*/*");
  const rest = fc.constantFrom("**", "a/**", "*/**");
  const name = fc.constantFrom("f", "f.g", "_f.g1.h");
  const variable = fc
    .tuple(name, fc.option(inner))
    .map(([name, inner]) => `{${name}${inner === null ? "" : `=${inner}`}}`);
  const last = fc.oneof(
    rest,
    fc.tuple(name, rest).map(([name, rest]) => `{${name}=${rest}}`),
  );
  const segments = fc.array(fc.oneof(literal, fc.constant("*"), variable), {
    minLength: 1,
    maxLength: 4,
  });
  return fc
    .tuple(segments, fc.option(last), fc.option(literal), fc.nat(9))
    .map(([segments, last, verb, twice]) => {
      const all = last === null ? segments : [...segments, last];
      const path = all.map((one, at) => (twice === 0 ? one : one.replace(/\{_?f/, `{f${at}`)));
      return `/${path.join("/")}${verb === null ? "" : `:${verb}`}`;
    });
})();

const pieces = [
  "/",
  "*",
  "**",
  "{",
  "}",
  "{x}",
  "=",
  ":",
  ".",
  "a",
  "f0",
  "1",
  "%",
  "%2F",
  "%ff",
  "þ",
  " ",
];

/** The same grammar as a regular expression, which is possible because variables do not nest. */
const grammar = (() => {
  const literal = "(?:[A-Za-z0-9\\-._~!$&'()+,;=@]|%[0-9A-Fa-f]{2})+";
  const one = `(?:${literal}|\\*)`;
  const name = "[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*";
  const variable = `\\{${name}(?:=${one}(?:/${one})*)?\\}`;
  const last = `(?:\\*\\*|\\{${name}=(?:${one}/)*\\*\\*\\})`;
  const segment = `(?:${one}|${variable})`;
  return new RegExp(`^/(?:${segment}/)*(?:${segment}|${last})(?::${literal})?$`);
})();

function isGood(text: string): boolean {
  const names = Array.from(text.matchAll(/\{([\w.]+)/g), ([, name]) => name);
  return grammar.test(text) && isDecodable(text) && new Set(names).size === names.length;
}

/** Writes a template from its parsed parts. */
function written({ segments, variables, verb }: PathTemplate): string {
  const encode = (text: string): string => encodeFully(text);
  const texts = segments.map((one) => (one.kind === "literal" ? encode(one.text) : one.kind));
  for (const { fieldPath, start, end } of variables) {
    texts[start] = `{${fieldPath.join(".")}=${texts[start] ?? ""}`;
    texts[(end === -1 ? segments.length : end) - 1] += "}";
  }
  return `/${texts.join("/")}${verb === "" ? "" : `:${encode(verb)}`}`;
}

test("parsePathTemplate() accepts exactly the grammar, and throws no errors other than PathTemplateError", () => {
  let good = 0;
  fc.assert(
    fc.property(fc.oneof(mutated(goodTemplate, pieces), fc.string({ unit: "binary" })), (text) => {
      try {
        const template = parsePathTemplate(text);
        const { text: _text, ...again } = parsePathTemplate(written(template));
        for (const key of ["segments", "verb"] as const)
          assert.deepEqual(again[key], template[key]);
        const spans = [again, template].map(({ variables }) =>
          variables.map(({ offset, ...rest }) => (assert.ok(offset > 1), rest)),
        );
        assert.deepEqual(spans[0], spans[1]);
      } catch (error) {
        assert.ok(error instanceof PathTemplateError, String(error));
        assert.ok(error.column >= 1 && error.column <= text.length + 1);
        assert.ok(!isGood(text), `${text}: ${error.message}`);
        return;
      }
      assert.ok(isGood(text), text);
      good++;
    }),
    { numRuns: runs(10_000) },
  );
  assert.ok(good > runs(1_500), `only ${good} templates were good`);
});
