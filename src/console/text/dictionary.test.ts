// Tests that the dictionary is complete: every phrase exists in both languages, and components
// contain no text of their own.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dirname, "..");

/**
 * Returns the problems of the phrases in a value, each with the place of the phrase. `seen` is
 * called with the place of every phrase.
 */
function problemsIn(value: unknown, place: string, seen: (place: string) => void): string[] {
  if (typeof value !== "object" || value === null || value instanceof RegExp) return [];
  const entries = Object.entries(value);
  const names = entries.map(([name]) => name);
  if (!names.includes("is") && !names.includes("en")) {
    return entries.flatMap(([name, inner]) => problemsIn(inner, `${place}.${name}`, seen));
  }
  const { is, en }: { is?: unknown; en?: unknown } = value;
  // The value is a table by language whose values are not texts, or a table of names by language
  // code, where "is" means Icelandic.
  if (typeof is === "object" || typeof en === "object") {
    return entries.flatMap(([name, inner]) => problemsIn(inner, `${place}.${name}`, seen));
  }
  seen(place);
  if (names.toSorted().join() !== "en,is") return [`${place} has ${names.join()}`];
  if (typeof is !== typeof en) return [`${place} is ${typeof is} and ${typeof en}`];
  if (typeof is === "function" && typeof en === "function") {
    return is.length === en.length ? [] : [`${place} takes ${is.length} and ${en.length}`];
  }
  if (typeof is !== "string" || typeof en !== "string") return [`${place} is ${typeof is}`];
  const isEmpty = is.trim() === "" || en.trim() === "";
  if (isEmpty) return [`${place} is empty`];
  return is === en && /\p{L}{3}/u.test(is) ? [`${place} is the same`] : [];
}

test("every phrase exists in Icelandic and English, with the same type and different words", async () => {
  const phrases: string[] = [];
  const problems: string[] = [];
  for (const file of globSync("**/text/*.ts", { cwd: root })) {
    if (file.endsWith(".test.ts")) continue;
    const module: Record<string, unknown> = await import(pathToFileURL(join(root, file)).href);
    problems.push(...problemsIn(module, file, (place) => phrases.push(place)));
  }
  assert.deepEqual(problems, []);
  assert.ok(phrases.length > 300, `${phrases.length}`);
});

test("the dictionary check finds each kind of mistake", () => {
  const rows: [value: unknown, problem: string][] = [
    [{ a: { is: "Já" } }, "t.a has is"],
    [{ a: { is: "Já", en: "Yes", de: "Ja" } }, "t.a has is,en,de"],
    [{ a: { b: { is: "Já", en: () => "Yes" } } }, "t.a.b is string and function"],
    [{ a: { is: (n: number) => `${n}`, en: () => "" } }, "t.a takes 1 and 0"],
    [{ a: { is: " ", en: "Yes" } }, "t.a is empty"],
    [{ a: { is: "Save", en: "Save" } }, "t.a is the same"],
  ];
  for (const [value, problem] of rows)
    assert.deepEqual(
      problemsIn(value, "t", () => {}),
      [problem],
    );
});

/** The attributes whose text reaches the user, on the screen or through a screen reader. */
const textAttributes =
  "label|placeholder|title|aria-label|aria-description|alt|hint|problem|sub|text|description";
const attributeText = new RegExp(
  `\\s(?:${textAttributes})=\\{?["'\`]([^"'\`]*\\p{L}[^"'\`]*)["'\`]`,
  "gu",
);
/** The texts that are the same in every language: names, and keys to press. */
const names = new Set(["Hlust", "bin/hlust console", "https://", "N", "P"]);
/** Matches code between a > and a < that do not belong to tags. */
const code = /\w\(|^[()|&,]|&&|\|\||`|,$/;

/**
 * Returns the texts that a component itself contains: between its tags, in attributes, and as
 * strings in braces.
 */
function literalTextIn(source: string): string[] {
  const plain = source
    .replaceAll(/\{?\/\*.*?\*\/\}?/gs, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/\$\{[^}]*\}/g, "")
    .replaceAll("=>", "  ");
  const between = Array.from(plain.matchAll(/>([^<>{};=]*\p{L}[^<>{};=]*)(?=<\/?[A-Za-z>]|\{)/gu));
  const attributes = Array.from(plain.matchAll(attributeText));
  const strings = Array.from(plain.matchAll(/>\s*\{\s*["'`]([^"'`]*\p{L}[^"'`]*)["'`]\s*\}/gu));
  return [...between, ...attributes, ...strings]
    .map(([, text = ""]) => text.trim())
    .filter((text) => !names.has(text) && !code.test(text));
}

test("all text in components comes from the dictionary", () => {
  const found = globSync("**/*.tsx", { cwd: root }).flatMap((file) =>
    literalTextIn(readFileSync(join(root, file), "utf8")).map((text) => `${file}: ${text}`),
  );
  assert.deepEqual(found, []);
  assert.ok(globSync("**/*.tsx", { cwd: root }).length > 40, relative("/", root));
});

test("the component check finds text in every place", () => {
  const rows: [source: string, found: string[]][] = [
    ["<p>Vista</p>", ["Vista"]],
    ["<p>\n  Save it now\n</p>", ["Save it now"]],
    ["<p>{count} files</p>", []],
    ["<p>Nothing (yet)</p>", ["Nothing (yet)"]],
    ['<p>{"Saved"}</p>', ["Saved"]],
    ['<TextInput label="Title" />', ["Title"]],
    ["<button aria-label='Close' />", ["Close"]],
    ["<img alt={`Wave`} />", ["Wave"]],
    ["<p>{t(text.save)}</p>", []],
    ["<p>Hlust</p>", []],
    ["<p>·</p>", []],
    ["{/* says nothing */}<p>{a > b ? c : d}</p>", []],
    ["const a = useState<Language>(() => chosen(navigator.languages));\nreturn <p>{a}</p>;", []],
    ['<div className="rows" title={t(text.title)} />', []],
  ];
  for (const [source, found] of rows) assert.deepEqual(literalTextIn(source), found, source);
});
