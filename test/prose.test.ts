// The project's prose: words, sentence starts, line widths, links and references
// (docs/style.md, Language and docs/glossary.md).
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import {
  avoidsWords,
  beginsWithHead,
  keepsWidth,
  linksLead,
  negatesVerbs,
  referencesLead,
  wordsToAvoid,
  type ProjectFiles,
  type ProseRule,
} from "./fixtures/prose-rules.ts";

const root = resolve(import.meta.dirname, "..");

const texts = new Map<string, string>();
const projectFiles: ProjectFiles = {
  has: (path) => existsSync(join(root, path)),
  read(path) {
    const text = texts.get(path) ?? readFileSync(join(root, path), "utf8");
    texts.set(path, text);
    return text;
  },
};

/** The files that people write; generated files and the examples of these rules are excluded. */
const files = globSync(
  [
    "*.{md,yaml}",
    "{src,test,bench,docs,tools,samples,models}/**/*.{ts,tsx,css,html,md,proto,yaml,sh,py}",
    "docs/operations/*",
    "proto/**/*.{proto,yaml}",
    "script/*",
    "bin/*",
    ".ci/*",
  ],
  { cwd: root, exclude: ["**/gen", "test/vectors"] },
)
  .filter((file) => !["docs/glossary.md", "test/prose.test.ts"].includes(file))
  .toSorted();

/** Speech, texts of users and former names, in which every word may occur. */
const quoted: Readonly<Record<string, readonly string[]>> = {
  "CHANGELOG.md": [
    "job.given_back",
    "webhook.given_back",
    "queue.clocks_not_mended",
    "recognisedSeconds",
  ],
  "bench/sentences.ts": [
    "came to hear the new",
    "Could you tell me where",
    "The doctor told him to",
    "and your patience.",
  ],
  "tools/test-models/make-diarization.py": ["so many birds", "why did nobody call us"],
};

function findings(rule: ProseRule): string[] {
  return files.flatMap((file) =>
    rule(file, withoutQuotes(file)).map((finding) => `${file}:${finding}`),
  );
}

function withoutQuotes(file: string): string {
  const text = projectFiles.read(file);
  return (quoted[file] ?? []).reduce((rest, quote) => rest.replaceAll(quote, ""), text);
}

describe("the project's prose", () => {
  test("uses no word that the glossary avoids", () => {
    const phrases = wordsToAvoid(projectFiles.read("docs/glossary.md"));
    assert.ok(phrases.length > 60);
    assert.deepEqual(findings(avoidsWords(phrases)), []);
  });

  test("has no comment and no markdown line over 100 columns", () => {
    assert.deepEqual(findings(keepsWidth), []);
  });

  test("has no link to a file or a heading that does not exist", () => {
    assert.deepEqual(findings(linksLead(projectFiles)), []);
  });

  test("has no reference to a file, a section or a heading that does not exist", () => {
    assert.deepEqual(findings(referencesLead(projectFiles)), []);
  });

  test("has no comment and no test name that begins with of, whose, past, beyond or which", () => {
    assert.deepEqual(findings(beginsWithHead), []);
  });

  test('has no "is no file" for "is not a file", and no "absent of"', () => {
    assert.deepEqual(findings(negatesVerbs), []);
  });
});

describe("the rules of the prose", () => {
  const phrases = wordsToAvoid(
    "\n## Words to avoid\n\n| Avoid | Write |\n|---|---|\n| told, recognis*, so many | x |\n",
  );
  const example: ProjectFiles = {
    has: (path) => ["docs/api.md", "docs/specification.md", "src/a.ts"].includes(path),
    read: (path) =>
      path === "docs/api.md"
        ? "# The API\n\n## Errors\n\n## Media in `S3`\n\n```sh\n# No heading\n```\n"
        : "# Specification\n\n## 4. Methods\n\n### 4.10 Paths\n\n1. First.\n2. Second.\n\n## 5. Access\n",
  };
  const long = "x".repeat(98);
  const rows: [name: string, rule: ProseRule, file: string, text: string, findings: string[]][] = [
    ["a word", avoidsWords(phrases), "a.ts", "// is told\n", ['1: "told" (docs/glossary.md']],
    ["a word in an identifier", avoidsWords(phrases), "a.ts", "\ncall(wasTold);", ['2: "Told"']],
    ["a word in a constant", avoidsWords(phrases), "a.ts", "TOLD_MS", ['1: "TOLD"']],
    ["any letters after a stem", avoidsWords(phrases), "a.md", "Recognised", ['1: "Recognised"']],
    [
      "a phrase over a line end",
      avoidsWords(phrases),
      "a.ts",
      "/**\n * So\n * many.\n */",
      ['2: "So many"'],
    ],
    ["words that contain one", avoidsWords(phrases), "a.md", "untoldéd toldó mistold", []],
    ["a wide comment", keepsWidth, "a.ts", `/**\n * ${long}\n */`, ["2: 101 columns"]],
    ["a wide comment after code", keepsWidth, "a.ts", `go(); // ${long}`, ["1: 107 columns"]],
    ["wide code", keepsWidth, "a.ts", `const a = "${long} // no";`, []],
    ["a wide private method", keepsWidth, "a.ts", `  #${long}`, []],
    ["a wide line of markdown", keepsWidth, "a.md", `See\n${long} it`, ["2: 101 columns"]],
    ["a line with a long URL", keepsWidth, "a.md", `See https://example.org/${long}`, []],
    ["wide code in markdown", keepsWidth, "a.md", `\`\`\`sh\n${long} it\n\`\`\`\n`, []],
    ["a row of narrow cells", keepsWidth, "a.md", `| ${long} | ${long} |`, []],
    ["a row with a wide cell", keepsWidth, "a.md", `| a | ${long} it |`, ["1: 109 columns"]],
    ["a line that a tool reads", keepsWidth, "a.ts", `// oxlint-disable ${long}`, []],
    ["a link to no file", linksLead(example), "docs/b.md", "\n[b](c.md)", ["2: no file docs/c.md"]],
    [
      "a link to no heading",
      linksLead(example),
      "docs/b.md",
      "[b](api.md#error)",
      ["1: docs/api.md has no #error"],
    ],
    [
      "a link to code in a fence",
      linksLead(example),
      "docs/b.md",
      "[b](api.md#no-heading)",
      ["1: docs/api.md has no"],
    ],
    [
      "a link in a page",
      linksLead(example),
      "b.md",
      "## The way\n[b](#a-way)",
      ["2: b.md has no #a-way"],
    ],
    [
      "links that lead",
      linksLead(example),
      "b.md",
      "## B c\n[b](#b-c) [c](docs/api.md#media-in-s3) [d](https://e.org)",
      [],
    ],
    [
      "a section that does not exist",
      referencesLead(example),
      "a.ts",
      "// §4.3\n",
      ["1: docs/specification.md has no section 4.3"],
    ],
    [
      "an item that does not exist",
      referencesLead(example),
      "a.ts",
      "/**\n * (§4.10\n * item 3)",
      ["2: docs/specification.md has no §4.10"],
    ],
    [
      "a section in words",
      referencesLead(example),
      "a.ts",
      "// In section 4.10.",
      ['1: "section 4.10"'],
    ],
    [
      "a heading that does not exist",
      referencesLead(example),
      "a.ts",
      "/** (docs/api.md, Error) */",
      ['1: docs/api.md has no heading "Error'],
    ],
    [
      "a page without its name",
      referencesLead(example),
      "a.ts",
      "/** (decisions: Errors) */",
      ['1: "decisions: Errors"'],
    ],
    [
      "notes elsewhere",
      referencesLead(example),
      "a.ts",
      "// reading/storage.md",
      ['1: "reading/storage"'],
    ],
    [
      "a file that does not exist",
      referencesLead(example),
      "a.md",
      "as src/b.ts and src/c/ have it",
      ["1: no file src/b.ts", "1: no file src/c/"],
    ],
    [
      "references that lead",
      referencesLead(example),
      "a.ts",
      "// §4 and §4.10 item 2, src/a.ts (docs/api.md,\n// Media in S3); RFC 9110, section 14.2; §5",
      [],
    ],
    ["a genitive alone", beginsWithHead, "a.ts", "a;\n/** Of a. */", ['2: "Of a. */": begin']],
    ["a relative clause", beginsWithHead, "a.ts", "/**\n * Whose it is", ['2: "Whose it is"']],
    ["a fragment after code", beginsWithHead, "a.ts", 'a("b"); // past it', ['1: "past it"']],
    ["a fragment in JSX", beginsWithHead, "a.tsx", "{/* Beyond it. */}", ['1: "Beyond it. */}"']],
    [
      "a fragment after a comment",
      beginsWithHead,
      "a.ts",
      "/* A. */\n// Which is it",
      ['2: "Which is it"'],
    ],
    ["a fragment of a field", beginsWithHead, "a.proto", "// Of a key.", ['1: "Of a key."']],
    ["a fragment in a script", beginsWithHead, "a.sh", "b\n# Of all.", ['2: "Of all."']],
    [
      "a test name without its noun",
      beginsWithHead,
      "a.test.ts",
      'test("of two nodes one collects", f);',
      ['1: "of two nodes one collects"'],
    ],
    [
      "a group without its noun",
      beginsWithHead,
      "a.test.ts",
      "describe.skip(\n  `which ${a}`, f);",
      ['2: "which ${a}`'],
    ],
    [
      "comments and names that begin with their noun",
      beginsWithHead,
      "a.ts",
      '/** The end\n * of it. */\n// A line\n// past it, a // b\ntest("one of two", f); // Often.',
      [],
    ],
    ["a sentence of markdown", beginsWithHead, "a.md", "# Of mice\n// of men", []],
    ["is no", negatesVerbs, "a.ts", '"a is no file"', ['1: "is no file"']],
    [
      "are no over a line end",
      negatesVerbs,
      "a.ts",
      "// b are\n// no files",
      ['1: "are no files"'],
    ],
    ["is no more", negatesVerbs, "a.md", "\nIt is no more.", ['2: "is no more"']],
    ["absent of", negatesVerbs, "a.proto", "// Absent of it", ['1: "Absent of"']],
    [
      "negations of English",
      negatesVerbs,
      "a.md",
      "There is no a, there really are no b. It is no longer such; is no such, is no matter, is no other. " +
        "It is no more than 2, no less, is no fewer than 3 and is no later than 4. It is not a c.",
      [],
    ],
  ];
  for (const [name, rule, file, text, expected] of rows) {
    test(`${expected.length === 0 ? "accept" : "find"} ${name}`, () => {
      const found = rule(file, text);
      assert.equal(found.length, expected.length, found.join("\n"));
      for (const [index, start] of expected.entries()) {
        assert.ok(found[index]?.startsWith(start), found[index]);
      }
    });
  }
});
