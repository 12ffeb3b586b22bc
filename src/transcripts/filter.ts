import { shown, type FieldViolation } from "../std/service-error.ts";
import { charCount } from "./segments.ts";

/** A filter of a list (§4.3). */
export type TranscriptFilter =
  | { readonly by: "subject"; readonly text: string }
  /** All of these keywords must be present. */
  | { readonly by: "keywords"; readonly keywords: readonly string[] };

/** The maximum length of a filter (docs/api.md, Transcripts). */
export const filterCharsMax = 4096;

/**
 * Reads exactly the two forms of §4.3, in one pass from left to right:
 *
 *     metadata.subject CONTAINS "<text>"
 *     metadata.keywords CONTAINS ["<keyword>", ...]
 *
 * For any other text, reports what was expected at which column (in characters, from 1).
 */
export function parseFilter(source: string): TranscriptFilter | FieldViolation {
  const length = charCount(source);
  if (length > filterCharsMax) {
    return violation(`has ${length} characters; at most ${filterCharsMax} are allowed`);
  }
  try {
    return readFilter(new Scanner(source));
  } catch (error) {
    if (error instanceof Expected) return violation(error.message);
    throw error;
  }
}

function violation(description: string): FieldViolation {
  return { field: "filter", description };
}

function readFilter(scanner: Scanner): TranscriptFilter {
  const field = scanner.oneOf("metadata.subject", "metadata.keywords");
  scanner.oneOf("CONTAINS");
  if (field === "metadata.subject") {
    const text = scanner.text();
    scanner.end();
    return { by: "subject", text };
  }
  scanner.oneOf("[");
  const keywords = [scanner.text()];
  while (scanner.oneOf(",", "]") === ",") keywords.push(scanner.text());
  scanner.end();
  return { by: "keywords", keywords };
}

class Expected extends Error {}

/** Each method skips spaces, then reads one token or throws Expected. */
class Scanner {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /**
   * Reads one of these tokens. A word must not be followed by a letter, digit, dot or underscore.
   */
  oneOf(...tokens: readonly string[]): string {
    this.#skipSpaces();
    for (const token of tokens) {
      if (!this.#source.startsWith(token, this.#at)) continue;
      const next = this.#source[this.#at + token.length];
      if (isWordPart(token.at(-1)) && isWordPart(next)) continue;
      this.#at += token.length;
      return token;
    }
    throw this.#expected(tokens.join(" or "));
  }

  /** Reads a text in double quotes, with \" and \\ as the only escapes. */
  text(): string {
    this.#skipSpaces();
    if (this.#source[this.#at] !== '"') throw this.#expected("a text in double quotes");
    this.#at += 1;
    let text = "";
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) throw this.#expected('" at the end of the text');
      if (char === "\0") throw this.#expected("a text without NUL");
      this.#at += 1;
      if (char === '"') break;
      text += char === "\\" ? this.#escaped() : char;
    }
    if (!text.isWellFormed())
      throw this.#expected("a text without half surrogate pairs before this");
    return text;
  }

  end(): void {
    this.#skipSpaces();
    if (this.#at < this.#source.length) throw this.#expected("the end of the filter");
  }

  #escaped(): string {
    const char = this.#source[this.#at];
    if (char !== '"' && char !== "\\") throw this.#expected(String.raw`\" or \\ as the escape`);
    this.#at += 1;
    return char;
  }

  #skipSpaces(): void {
    while (isSpace(this.#source[this.#at])) this.#at += 1;
  }

  #expected(what: string): Expected {
    const column = charCount(this.#source.slice(0, this.#at)) + 1;
    const rest = this.#source.slice(this.#at, this.#at + 20);
    const found = rest === "" ? "the end" : shown(rest);
    return new Expected(`expected ${what} at column ${column}, found ${found}`);
  }
}

function isSpace(char: string | undefined): boolean {
  return char === " " || char === "\t" || char === "\n" || char === "\r";
}

function isWordPart(char: string | undefined): boolean {
  return char !== undefined && /[\w.]/.test(char);
}
