import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parsePathTemplate, PathTemplateError } from "./path-template.ts";

test("parsePathTemplate() reads segments, variables and verb", () => {
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
      { fieldPath: ["a", "b"], start: 1, end: 3, multi: true },
      { fieldPath: ["c"], start: 3, end: 4, multi: false },
      { fieldPath: ["rest"], start: 4, end: -1, multi: true },
    ],
    verb: "do it",
  });
});

test("parsePathTemplate() names the column, what was expected and what stood there", () => {
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

test("parsePathTemplate() throws nothing but PathTemplateError, whatever the text", () => {
  const part = fc.constantFrom(
    "/",
    "*",
    "**",
    "{",
    "}",
    "=",
    ":",
    ".",
    "a",
    "b_1",
    "%2F",
    "%",
    "þ",
  );
  const template = fc.array(part, { maxLength: 14 }).map((parts) => `/${parts.join("")}`);
  let parsed = 0;
  fc.assert(
    fc.property(fc.oneof(template, fc.string()), (text) => {
      try {
        const { segments } = parsePathTemplate(text);
        assert.ok(segments.length > 0);
        assert.ok(segments.slice(0, -1).every(({ kind }) => kind !== "**"));
        parsed++;
      } catch (error) {
        assert.ok(error instanceof PathTemplateError, String(error));
        assert.ok(error.column >= 1 && error.column <= text.length + 1);
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(parsed > 50, `only ${parsed} templates were valid`);
});
