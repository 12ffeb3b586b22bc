import { shown, type FieldViolation } from "../std/service-error.ts";
import { charCount } from "./segments.ts";

/** A clause of a filter. */
export type Clause =
  | { readonly by: "subject"; readonly text: string }
  /** At least one of these keywords is present. */
  | { readonly by: "keywords"; readonly keywords: readonly string[] }
  /** The job has this state. */
  | { readonly by: "state"; readonly state: string };

/** A filter of a list (§4.3): clauses that all hold. */
export type Filter = readonly Clause[];

/** The maximum length of a filter (docs/api.md, Transcripts). */
export const filterCharsMax = 4096;
/** The maximum number of clauses of a filter. */
export const clausesMax = 10;

/**
 * Reads the two forms of §4.3, and with `states` a form for jobs, in one pass from left to right:
 *
 *     metadata.subject CONTAINS "<text>"
 *     metadata.keywords CONTAINS ["<keyword>", ...]
 *     state = "<state>"
 *
 * Several clauses are joined with AND (extension). For any other text, reports what was expected at
 * which column (in characters, from 1).
 */
export function parseFilter(
  source: string,
  states: readonly string[] = [],
): Filter | FieldViolation {
  const length = charCount(source);
  if (length > filterCharsMax) {
    return violation(`has ${length} characters; at most ${filterCharsMax} are allowed`);
  }
  try {
    const clauses = readClauses(new Scanner(source), states);
    if (clauses.length <= clausesMax) return clauses;
    return violation(`has ${clauses.length} clauses; at most ${clausesMax} are allowed`);
  } catch (error) {
    if (error instanceof Expected) return violation(error.message);
    throw error;
  }
}

function violation(description: string): FieldViolation {
  return { field: "filter", description };
}

function readClauses(scanner: Scanner, states: readonly string[]): Clause[] {
  const clauses = [readClause(scanner, states)];
  while (scanner.endOr("AND") === "AND") clauses.push(readClause(scanner, states));
  return clauses;
}

function readClause(scanner: Scanner, states: readonly string[]): Clause {
  const fields = ["metadata.subject", "metadata.keywords", ...(states.length > 0 ? ["state"] : [])];
  const field = scanner.oneOf(...fields);
  if (field === "state") {
    scanner.oneOf("=");
    const state = scanner.oneOf(...states.map((name) => `"${name}"`));
    return { by: "state", state: state.slice(1, -1) };
  }
  scanner.oneOf("CONTAINS");
  if (field === "metadata.subject") return { by: "subject", text: scanner.text() };
  scanner.oneOf("[");
  const keywords = [scanner.text()];
  while (scanner.oneOf(",", "]") === ",") keywords.push(scanner.text());
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
    const token = this.#next(tokens);
    if (token === undefined) throw this.#expected(tokens.join(" or "));
    return token;
  }

  /** Reads this token, or the end of the filter. */
  endOr(token: string): string | undefined {
    const read = this.#next([token]);
    if (read === undefined && this.#at < this.#source.length) {
      throw this.#expected(`${token} or the end of the filter`);
    }
    return read;
  }

  #next(tokens: readonly string[]): string | undefined {
    this.#skipSpaces();
    for (const token of tokens) {
      if (!this.#source.startsWith(token, this.#at)) continue;
      const next = this.#source[this.#at + token.length];
      if (isWordPart(token.at(-1)) && isWordPart(next)) continue;
      this.#at += token.length;
      return token;
    }
    return undefined;
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
