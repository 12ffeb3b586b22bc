// Tests that the texts of the console use one word for each idea (docs/glossary.md, Words of the
// console).
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const here = import.meta.dirname;
const glossary = readFileSync(resolve(here, "../../../docs/glossary.md"), "utf8");

interface Words {
  readonly refused: readonly string[];
  /** Words that may be written although they contain a refused one. */
  readonly allowed: readonly string[];
}

/** Reads the words to avoid of a language from the table, by the column in which they are. */
function wordsOf(text: string, column: number): Words {
  const [, rest = ""] = text.split("\n## Words of the console\n");
  const [section = ""] = rest.split("\n## ", 1);
  const rows = section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Idea"));
  const cells = rows.map((row) => row.split("|")[column + 1] ?? "");
  const list = (cell: string) =>
    cell
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
  return {
    refused: cells.flatMap((cell) => list(cell.replace(/\[.*\]/, ""))),
    allowed: cells.flatMap((cell) => list(/\[(.*)\]/.exec(cell)?.[1] ?? "")),
  };
}

/** Returns the refused words that a text contains, in the order of the table. */
function refusedIn(text: string, { refused, allowed }: Words): string[] {
  const lower = allowed
    .reduce((rest, words) => rest.replaceAll(words.toLowerCase(), ""), text.toLowerCase())
    .normalize("NFC");
  return refused.filter((word) => {
    const pattern = word.toLowerCase().replaceAll("*", "\\p{L}*");
    return new RegExp(`(?<!\\p{L})${pattern}(?!\\p{L})`, "u").test(lower);
  });
}

/** Returns the words of a phrase: those of a function are its strings and templates. */
function textOf(phrase: unknown): string {
  if (typeof phrase === "string") return phrase;
  const source = String(phrase).replaceAll(/\$\{[^{}]*\}/g, " ");
  return Array.from(source.matchAll(/"([^"]*)"|`([^`]*)`/g), ([, a, b]) => a ?? b).join(" ");
}

type Language = "is" | "en";

/** Calls `see` with each phrase of a module, and its place. */
function eachPhrase(
  value: unknown,
  place: string,
  see: (place: string, language: Language, text: string) => void,
): void {
  if (typeof value !== "object" || value === null || value instanceof RegExp) return;
  for (const [name, inner] of Object.entries(value)) {
    const isText = typeof inner === "string" || typeof inner === "function";
    if (isText && (name === "is" || name === "en")) see(place, name, textOf(inner));
    else eachPhrase(inner, `${place}.${name}`, see);
  }
}

const words = { is: wordsOf(glossary, 2), en: wordsOf(glossary, 4) };

test("every text stands in the words of the glossary, in both languages", async () => {
  const found: string[] = [];
  let seen = 0;
  for (const file of globSync("*.ts", { cwd: here })) {
    if (file.endsWith(".test.ts")) continue;
    const module: unknown = await import(pathToFileURL(join(here, file)).href);
    eachPhrase({ ...Object(module) }, file, (place, language, text) => {
      seen += 1;
      for (const word of refusedIn(text, words[language])) found.push(`${place}: ${word}: ${text}`);
    });
  }
  assert.ok(seen > 1500, `${seen} texts`);
  assert.deepEqual(found, []);
});

/**
 * Returns the texts of a script that is in English and has no dictionary: its strings that are
 * words.
 */
function textsIn(source: string): string[] {
  const code = source.replaceAll(/^\s*(\/\/|\/?\*).*$|^import .*$/gm, "");
  const strings = code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g);
  return Array.from(strings, ([, quoted, template = ""]) => quoted ?? template)
    .map((text) => text.replaceAll(/\$\{[^{}]*\}|<[^>]*>/g, " "))
    .filter((text) => /\p{L} \p{L}|^\p{Lu}\p{Ll}+$/u.test(text));
}

test("the texts of the API reference, of /docs and of a page without scripts stand in these words", () => {
  const scripts = ["../reference/*.ts", "../../server/docs/docs-page.ts"];
  const found: string[] = [];
  let seen = 0;
  for (const file of globSync(scripts, { cwd: here })) {
    if (file.endsWith(".test.ts")) continue;
    for (const text of textsIn(readFileSync(join(here, file), "utf8"))) {
      seen += 1;
      for (const word of refusedIn(text, words.en)) found.push(`${file}: ${word}: ${text}`);
    }
  }
  const page = readFileSync(join(here, "../index.html"), "utf8");
  const shown = page.replaceAll(/<!--.*?-->|<[^>]*>/gs, " ");
  for (const word of refusedIn(shown, words.en)) found.push(`index.html: ${word}`);
  assert.ok(seen >= 25, `${seen} texts`);
  assert.deepEqual(found, []);
});

test("no page has texts outside of the dictionary", () => {
  // The name of the program, and the beginning of an address, are the same in both languages.
  const names = new Set(["Hlust", "https://"]);
  const found: string[] = [];
  for (const file of globSync("../**/*.{ts,tsx}", { cwd: here })) {
    if (file.endsWith(".test.ts") || /^\.\.\/(text|reference)\//.test(file)) continue;
    const source = readFileSync(join(here, file), "utf8");
    const shown = [
      ...source.matchAll(/\b(?:is|en): ?["`]([^"`]*)/g),
      ...source.matchAll(/<[a-z][^<>=]*>([^<>{}]*)<\//g),
      ...source.matchAll(/\b(?:aria-label|title|placeholder|alt)="([^"]*)"/g),
    ];
    const texts = shown.map(([, text = ""]) => text.replaceAll(/\$\{[^{}]*\}/g, "").trim());
    const words = texts.filter((text) => /\p{L}{3}/u.test(text) && !names.has(text));
    found.push(...words.map((text) => `${file}: ${text}`));
  }
  assert.deepEqual(found, []);
});

test("the check finds a refused word in each language, and in functions", () => {
  assert.ok(words.is.refused.length > 15 && words.en.refused.length > 15);
  const rows: [text: unknown, language: Language, found: string[]][] = [
    ["Raddir", "is", ["radd*"]],
    ["Mælendur", "is", []],
    [(n: number) => `${n} raddir`, "is", ["radd*"]],
    ["The voices", "en", ["voice*"]],
    ["The sound is lost", "en", ["sound"]],
    ["No sound detected. It sounds like this", "en", []],
    ["Load again", "en", ["load again"]],
    ["Uploading again", "en", []],
  ];
  for (const [text, language, found] of rows) {
    assert.deepEqual(refusedIn(textOf(text), words[language]), found, String(text));
  }
});
