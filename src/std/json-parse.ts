import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * Works like JSON.parse(), but avoids a bug in V8 (13.6, Node 24). V8 can read a name written with
 * escapes, such as `"b\u00f3k"`, as its first characters in the source, `b\u`. This happens if an
 * object that was parsed earlier had that name after the same other names. One caller could
 * therefore change how another caller's JSON is read. For this reason, names with escapes are
 * rewritten before they are parsed. Throws SyntaxError, as JSON.parse() does.
 */
export function jsonParse(text: string): JsonValue {
  if (!text.includes("\\")) return JSON.parse(text);
  const value: JsonValue = JSON.parse(text);
  // The text is valid JSON from here on.
  const names = new EscapedNames(text);
  const rewritten = names.rewrite();
  if (rewritten === text) return value;
  const parsed: JsonValue = JSON.parse(rewritten);
  names.restore(parsed);
  return parsed;
}

/** The characters that must be escaped in a JSON string. */
// oxlint-disable-next-line no-control-regex -- of JSON's grammar
const escaped = /["\\\u0000-\u001F]/;

/**
 * Rewrites the names in a valid JSON text that are written with escapes. Names that need no escapes
 * are written without them. Every other name is replaced by its own token, which is the same
 * wherever the name occurs.
 */
class EscapedNames {
  readonly #text: string;
  /**
   * The character with which all tokens begin. The text does not contain this character, not even
   * escaped.
   */
  #marker: string | undefined;
  readonly #tokens = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(text: string) {
    this.#text = text;
  }

  rewrite(): string {
    const text = this.#text;
    const parts: string[] = [];
    let [copied, escape] = [0, text.indexOf("\\")];
    for (let start = text.indexOf('"'); start >= 0;) {
      const end = endOfString(text, start);
      if (escape >= 0 && escape < start) escape = text.indexOf("\\", start);
      // The rest of the text has no escapes.
      if (escape < 0) break;
      if (escape < end && isBeforeColon(text, end)) {
        parts.push(text.slice(copied, start), this.#written(text.slice(start, end)));
        copied = end;
      }
      start = text.indexOf('"', end);
    }
    return parts.length === 0 ? text : parts.join("") + text.slice(copied);
  }

  /** Returns the string literal that replaces a name with escapes. */
  #written(literal: string): string {
    const name: string = JSON.parse(literal);
    if (!escaped.test(name)) return `"${name}"`;
    this.#marker ??= unusedCharacter(this.#text);
    const token = this.#tokens.get(name) ?? `${this.#marker}${this.#tokens.size}`;
    this.#tokens.set(name, token);
    this.#names.set(token, name);
    return `"${token}"`;
  }

  /** Replaces tokens with their names in all objects of a value. */
  restore(value: JsonValue): void {
    if (this.#names.size === 0) return;
    const open: JsonValue[] = [value];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (typeof next !== "object" || next === null) continue;
      for (const member of Object.values(next)) open.push(member);
      if (!Array.isArray(next)) this.#restoreNames(next);
    }
  }

  #restoreNames(object: JsonObject): void {
    const members = Object.entries(object);
    if (!members.some(([name]) => this.#names.has(name))) return;
    for (const [name, value] of members) {
      delete object[name];
      // This works for __proto__ too, unlike an assignment.
      const described = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(object, this.#names.get(name) ?? name, described);
    }
  }
}

/** Returns a private-use character that the text does not contain, not even escaped. */
function unusedCharacter(text: string): string {
  const lower = text.toLowerCase();
  for (let code = 0xe000; code < 0xf900; code++) {
    const character = String.fromCodePoint(code);
    const isUsed = text.includes(character) || lower.includes(`\\u${code.toString(16)}`);
    if (!isUsed) return character;
  }
  throw new SyntaxError("the JSON contains all private-use characters");
}

/** Returns the position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text[before - 1] === "\\") before--;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
}

function isBeforeColon(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
  return text[at] === ":";
}
