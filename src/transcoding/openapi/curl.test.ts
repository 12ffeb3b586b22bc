import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { curlOf, quoted } from "./curl.ts";
import { jsonLayout } from "./json-layout.ts";

test("quoted() returns one word for a shell, whatever the text contains", () => {
  const texts = fc.array(
    fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
    {
      minLength: 50,
      maxLength: 50,
    },
  );
  fc.assert(
    fc.property(texts, (texts) => {
      const words = texts.map(quoted).join(" ");
      const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${words}`]);
      assert.deepEqual(printed.toString().split("\0").slice(0, -1), texts);
    }),
    { numRuns: 20 },
  );
});

test("curlOf() writes commands that can be pasted into a shell", () => {
  const rows: [call: Parameters<typeof curlOf>[0], text: string][] = [
    [
      { method: "GET", url: "http://a/b" },
      'curl http://a/b \\\n  -H "Authorization: Bearer $TOKEN"',
    ],
    [{ method: "GET", url: "http://a/b?c=d&e", withToken: false }, "curl 'http://a/b?c=d&e'"],
    [
      { method: "DELETE", url: "http://a", headers: { "If-Match": "x" } },
      `curl -X DELETE http://a \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'If-Match: x'`,
    ],
    [
      { method: "POST", url: "http://a", body: `{"a": "it's"}` },
      `curl http://a \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"a": "it'\\''s"}'`,
    ],
    [{ method: "POST", url: "http://a", withToken: false }, "curl -X POST http://a"],
  ];
  for (const [call, text] of rows) assert.equal(curlOf(call), text);
});

test("jsonLayout() keeps lines within the width if possible, and never changes the value", () => {
  assert.equal(jsonLayout({ a: [1, 2], b: {} }, 80), '{"a": [1, 2], "b": {}}');
  assert.equal(jsonLayout({ a: [1, 2], b: {} }, 16), '{\n  "a": [1, 2],\n  "b": {}\n}');
  assert.equal(jsonLayout([], 1), "[]");
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(60), (value, width) => {
      const json = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(jsonLayout(json, width)), json);
    }),
  );
});
