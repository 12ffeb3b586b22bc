import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";
import fc from "fast-check";
import { ServiceError } from "../std/service-error.ts";
import { firstSyntaxError } from "./json-syntax.ts";
import { jsonDepthMax, parseJson, textOfUtf8 } from "./json-text.ts";
import { assertLinear } from "../../test/fixtures/growth.ts";
import { runs } from "../../test/fixtures/property-runs.ts";

function refused(text: string): ServiceError {
  try {
    parseJson(text);
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, "invalid_argument");
    assert.deepEqual(error.violations, []);
    return error;
  }
  return assert.fail(`${text.slice(0, 60)} was parsed`);
}

test("parseJson() reports the line, the column, what was expected and what was found", () => {
  const rows: [text: string, place: string][] = [
    ["", "line 1, column 1: expected a value, found the end"],
    ["[malformed_json]", 'line 1, column 2: expected a value, found "malformed_json]"'],
    ['{"a":1,}', 'line 1, column 8: expected a name in double quotes, found "}"'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1}"'],
    ['{\n "a": 1\n "b": 2}', 'line 3, column 2: expected "," or "}", found "\\"b\\": 2}"'],
    ['{"a":\\u0031}', 'line 1, column 6: expected a value, found "\\\\u0031}"'],
    ['["\\q"]', 'line 1, column 3: expected a valid escape, found "\\\\q\\"]"'],
    ['["a', "line 1, column 4: expected the closing quote"],
    ['["a\nb"]', "line 1, column 4: expected the closing quote"],
    ['["\\u123"]', 'line 1, column 3: expected a valid escape, found "\\\\u123\\"]"'],
    ["{} {}", 'line 1, column 4: expected the end, found "{}"'],
    ["[1,2", 'line 1, column 5: expected "," or "]", found the end'],
    ["[01]", 'line 1, column 3: expected "," or "]", found "1]"'],
    ["[+1]", 'line 1, column 2: expected a value, found "+1]"'],
    ["nul", 'line 1, column 1: expected a value, found "nul"'],
  ];
  for (const [text, place] of rows) {
    const { message } = refused(text);
    assert.ok(message.startsWith(`not valid JSON at ${place}`), message);
  }
  const secret = `{"a": ${"secret".repeat(100)}}`;
  assert.ok(refused(secret).message.length < 120);
});

test("parseJson() refuses exactly the texts that JSON.parse() refuses, and finds the position", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    '"a"',
    "1",
    "-",
    ".5",
    "e",
    "true",
    "nul",
    "l",
    " ",
    "\n",
    "\\",
    "\\u00e9",
    "\u0001",
    "þ",
  );
  const garbled = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  const cut = fc
    .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }))
    .map(
      ([text, at, more]) =>
        text.slice(0, at % (text.length + 1)) + more + text.slice((at + 1) % (text.length + 1)),
    );
  fc.assert(
    fc.property(fc.oneof(garbled, cut), (text) => {
      try {
        JSON.parse(text);
      } catch {
        assert.match(refused(text).message, /line \d+, column \d+/);
        const { offset } = firstSyntaxError(text);
        // The text before the reported position can be completed to valid JSON.
        const before = firstSyntaxError(text.slice(0, offset));
        assert.equal(before.offset, offset);
        return;
      }
      assert.equal(JSON.stringify(parseJson(text)), parsedAlone(text));
    }),
    { numRuns: runs(10_000) },
  );
});

/**
 * Returns what JSON.parse() reads, as JSON. A new context has not read any names before, so the V8
 * bug with names written with escapes (src/std/json-parse.ts) does not occur.
 */
function parsedAlone(text: string): unknown {
  if (!text.includes("\\")) return JSON.stringify(JSON.parse(text));
  return runInContext("JSON.stringify(JSON.parse(text))", createContext({ text }));
}

test("parseJson() accepts 64 levels and refuses more, without counting brackets in strings", () => {
  const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  assert.ok(Array.isArray(parseJson(nested(jsonDepthMax))));
  assert.match(refused(nested(jsonDepthMax + 1)).message, /deeper than 64/);
  assert.equal(parseJson(JSON.stringify("[{".repeat(500))), "[{".repeat(500));
  assert.equal(parseJson(JSON.stringify('\\"[{'.repeat(500))), '\\"[{'.repeat(500));
});

test("parseJson() refuses deeply nested texts, texts with many values and long garbage in linear time", () => {
  const rows: [name: string, size: number, input: (size: number) => string][] = [
    ["brackets", 1_600_000, (n) => "[".repeat(n)],
    ["braces", 400_000, (n) => '{"a":'.repeat(n)],
    ["backslashes", 250_000, (n) => `["${"\\".repeat(n)}`],
    ["quotes", 125_000, (n) => `"${'\\"'.repeat(n)}`],
    ["digits", 250_000, (n) => `${"1".repeat(n)}x`],
  ];
  for (const [name, size, input] of rows) assertLinear(name, size, { input, run: refused });
});

test("textOfUtf8() accepts UTF-8, drops a byte order mark and refuses other bytes", () => {
  for (const text of ["", "ascii", "það er 😁"]) assert.equal(textOfUtf8(Buffer.from(text)), text);
  assert.equal(textOfUtf8(Buffer.from("\ufeff{}")), "{}");
  for (const bytes of [[0xff, 0xfe], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80]]) {
    assert.throws(() => textOfUtf8(Uint8Array.from(bytes)), /not UTF-8/);
  }
});
