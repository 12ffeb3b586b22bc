import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clausesMax, filterCharsMax, parseFilter, type Clause } from "./filter.ts";
import { assertLinear } from "../../test/fixtures/growth.ts";

test("parseFilter() reads the two forms of §4.3", () => {
  const rows: [source: string, clause: Clause][] = [
    ['metadata.subject CONTAINS "fundur"', { by: "subject", text: "fundur" }],
    ['  metadata.subject\tCONTAINS\n"a b"  ', { by: "subject", text: "a b" }],
    ['metadata.subject CONTAINS"x"', { by: "subject", text: "x" }],
    ['metadata.subject CONTAINS ""', { by: "subject", text: "" }],
    [String.raw`metadata.subject CONTAINS "a\"b\\c"`, { by: "subject", text: 'a"b\\c' }],
    [`metadata.subject CONTAINS "it's 100% _ ÞÁ 🎧"`, { by: "subject", text: "it's 100% _ ÞÁ 🎧" }],
    ['metadata.subject CONTAINS "] CONTAINS"', { by: "subject", text: "] CONTAINS" }],
    ['metadata.keywords CONTAINS ["a"]', { by: "keywords", keywords: ["a"] }],
    ['metadata.keywords CONTAINS [ "a" , "b,]" ]', { by: "keywords", keywords: ["a", "b,]"] }],
    ['metadata.keywords CONTAINS["a","a"]', { by: "keywords", keywords: ["a", "a"] }],
  ];
  for (const [source, clause] of rows) assert.deepEqual(parseFilter(source), [clause], source);
});

const clauses: readonly [source: string, clause: Clause][] = [
  ['metadata.subject CONTAINS "x"', { by: "subject", text: "x" }],
  ['metadata.keywords CONTAINS ["a", "AND"]', { by: "keywords", keywords: ["a", "AND"] }],
  ['state = "ERROR"', { by: "state", state: "ERROR" }],
];
const states = ["SUBMITTED", "ERROR"];

test("parseFilter() reads up to ten clauses that are joined with AND, in any combination", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...clauses), { minLength: 1, maxLength: clausesMax }),
      (chosen) => {
        const source = chosen.map(([text]) => text).join(" AND\t");
        const expected = chosen.map(([, clause]) => clause);
        assert.deepEqual(parseFilter(source, { states }), expected, source);
      },
    ),
  );
  const eleven = Array.from({ length: 11 }, () => 'metadata.subject CONTAINS "x"').join(" AND ");
  const description = "has 11 clauses; at most 10 are allowed";
  assert.deepEqual(parseFilter(eleven), { field: "filter", description });
});

test("parseFilter() reports what was expected, and at which column", () => {
  const rows: [source: string, description: string][] = [
    [" ", "expected metadata.subject or metadata.keywords at column 2, found the end"],
    ["x", 'expected metadata.subject or metadata.keywords at column 1, found "x"'],
    [
      'metadata.subjects CONTAINS "x"',
      'expected metadata.subject or metadata.keywords at column 1, found "metadata.subjects CO"',
    ],
    ['metadata.subject = "x"', 'expected CONTAINS at column 18, found "= \\"x\\""'],
    ['metadata.subject contains "x"', 'expected CONTAINS at column 18, found "contains \\"x\\""'],
    ["metadata.subject", "expected CONTAINS at column 17, found the end"],
    ["metadata.subject CONTAINS x", 'expected a text in double quotes at column 27, found "x"'],
    [
      'metadata.subject CONTAINS ["x"]',
      'expected a text in double quotes at column 27, found "[\\"x\\"]"',
    ],
    [
      'metadata.subject CONTAINS "x',
      'expected " at the end of the text at column 29, found the end',
    ],
    [
      String.raw`metadata.subject CONTAINS "🎧\n"`,
      String.raw`expected \" or \\ as the escape at column 30, found "n\""`,
    ],
    [
      'metadata.subject CONTAINS "\0"',
      'expected a text without NUL at column 28, found "\\u0000\\""',
    ],
    [
      'metadata.subject CONTAINS "\ud83c"',
      "expected a text without half surrogate pairs before this at column 30, found the end",
    ],
    [
      'metadata.subject CONTAINS "x" OR metadata.subject CONTAINS "y"',
      'expected AND or the end of the filter at column 31, found "OR metadata.subject "',
    ],
    [
      'metadata.subject CONTAINS "x" metadata.subject CONTAINS "y"',
      'expected AND or the end of the filter at column 31, found "metadata.subject CON"',
    ],
    [
      'metadata.subject CONTAINS "x" and metadata.subject CONTAINS "y"',
      'expected AND or the end of the filter at column 31, found "and metadata.subject"',
    ],
    [
      'metadata.subject CONTAINS "x" ANDmetadata.subject CONTAINS "y"',
      'expected AND or the end of the filter at column 31, found "ANDmetadata.subject "',
    ],
    [
      'metadata.subject CONTAINS "x" AND ',
      "expected metadata.subject or metadata.keywords at column 35, found the end",
    ],
    [
      'AND metadata.subject CONTAINS "x"',
      'expected metadata.subject or metadata.keywords at column 1, found "AND metadata.subject"',
    ],
    [
      '(metadata.subject CONTAINS "x")',
      'expected metadata.subject or metadata.keywords at column 1, found "(metadata.subject CO"',
    ],
    [
      'state = "ERROR"',
      'expected metadata.subject or metadata.keywords at column 1, found "state = \\"ERROR\\""',
    ],
    ['metadata.keywords CONTAINS "x"', 'expected [ at column 28, found "\\"x\\""'],
    ["metadata.keywords CONTAINS []", 'expected a text in double quotes at column 29, found "]"'],
    ['metadata.keywords CONTAINS ["x"', "expected , or ] at column 32, found the end"],
    [
      'metadata.keywords CONTAINS ["x",]',
      'expected a text in double quotes at column 33, found "]"',
    ],
    [
      'metadata.keywords CONTAINS [["x"]]',
      'expected a text in double quotes at column 29, found "[\\"x\\"]]"',
    ],
    ["x".repeat(filterCharsMax + 1), "has 4097 characters; at most 4096 are allowed"],
  ];
  for (const [source, description] of rows) {
    assert.deepEqual(parseFilter(source), { field: "filter", description });
  }
});

test("parseFilter() reports wrong clauses about the state of a job", () => {
  const rows: [source: string, description: string][] = [
    ["x", 'expected metadata.subject or metadata.keywords or state at column 1, found "x"'],
    ['state CONTAINS "ERROR"', 'expected = at column 7, found "CONTAINS \\"ERROR\\""'],
    ["state = ERROR", 'expected "SUBMITTED" or "ERROR" at column 9, found "ERROR"'],
    ['state = "error"', 'expected "SUBMITTED" or "ERROR" at column 9, found "\\"error\\""'],
    ['state = ""', 'expected "SUBMITTED" or "ERROR" at column 9, found "\\"\\""'],
    ["state =", 'expected "SUBMITTED" or "ERROR" at column 8, found the end'],
    [
      'states = "ERROR"',
      `expected metadata.subject or metadata.keywords or state at column 1, found "states = \\"ERROR\\""`,
    ],
  ];
  for (const [source, description] of rows) {
    assert.deepEqual(parseFilter(source, { states }), { field: "filter", description });
  }
});

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

const texts = fc.string({ unit: "binary", maxLength: 50 }).filter((text) => !text.includes("\0"));
const spaces = fc.stringMatching(/^[ \t\n]{0,3}$/);

test("parseFilter() reads any quoted text", () => {
  fc.assert(
    fc.property(texts, spaces, (text, space) => {
      const source = `${space}metadata.subject ${space}CONTAINS${space}${quoted(text)}${space}`;
      assert.deepEqual(parseFilter(source), [{ by: "subject", text }]);
    }),
  );
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 9 }), spaces, (keywords, space) => {
      const list = keywords.map(quoted).join(`${space},${space}`);
      const source = `metadata.keywords CONTAINS ${space}[${space}${list}${space}]`;
      assert.deepEqual(parseFilter(source), [{ by: "keywords", keywords }]);
    }),
  );
});

test("parseFilter() returns a filter or a violation for every text", () => {
  const tokens = [
    "metadata.subject",
    "metadata.keywords",
    "CONTAINS",
    "state",
    "=",
    '"ERROR"',
    "AND",
    '"',
    "[",
    "]",
    ",",
    "\\",
    " ",
  ];
  const part = fc.oneof(fc.constantFrom(...tokens), fc.string({ unit: "binary", maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const read = parseFilter(parts.join(""), { states: ["ERROR"], ofTranscripts: true });
      assert.ok("field" in read ? read.field === "filter" : read.length > 0);
    }),
    { numRuns: 2000 },
  );
});

test("parseFilter() takes time that is linear in the length of the text", () => {
  const rows: [name: string, size: number, input: (size: number) => string][] = [
    ["escapes", 250, (n) => `metadata.subject CONTAINS "${"\\\\".repeat(n)}"`],
    ["open quotes", 500, (n) => `metadata.subject CONTAINS ${'"'.repeat(n)}`],
    ["open lists", 500, (n) => `metadata.keywords CONTAINS ${"[".repeat(n)}`],
    ["clauses", 100, (n) => Array.from({ length: n }, () => 'state = "ERROR"').join(" AND ")],
    ["spaces", filterCharsMax / 8, (n) => " ".repeat(n)],
    ["more than the limit", 8_000, (n) => '"'.repeat(n)],
  ];
  for (const [name, size, input] of rows) {
    assertLinear(name, size, {
      input,
      run: (source) => parseFilter(source, { states: ["ERROR"] }),
    });
  }
});
