import { shown } from "../std/service-error.ts";

/** One segment of a template. The text of a literal is percent-decoded. */
export type TemplateSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "*" }
  | { readonly kind: "**" };

/**
 * A variable of a template. It has the segments from `start` to `end`, exclusive. An `end` of -1 is
 * the end of the path.
 */
export interface TemplateVariable {
  /** The proto field names, from the request message down. */
  readonly fieldPath: readonly string[];
  readonly start: number;
  readonly end: number;
  /** The position of the variable's name in the text, counted from 0. */
  readonly offset: number;
  /**
   * Whether the value can have more than one segment, so that `%2F` in the path is not decoded
   * (§4.10 item 6).
   */
  readonly multi: boolean;
}

export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly TemplateSegment[];
  readonly variables: readonly TemplateVariable[];
  /** The verb without its colon, percent-decoded; "" if there is no verb. */
  readonly verb: string;
}

/**
 * Thrown for a template that violates the grammar. The error has the column (from 1), what was
 * expected and what was found.
 */
export class PathTemplateError extends Error {
  override readonly name = "PathTemplateError";
  readonly template: string;
  readonly column: number;
  readonly expected: string;
  readonly found: string;

  constructor(template: string, column: number, expected: string, found: string) {
    super(
      `path template ${shown(template)}, column ${column}: expected ${expected}, found ${found}`,
    );
    this.template = template;
    this.column = column;
    this.expected = expected;
    this.found = found;
  }
}

/**
 * Parses the path of an HTTP rule (§4.10 item 5):
 *
 *     Template  = "/" Segments [ Verb ]
 *     Segments  = Segment { "/" Segment }
 *     Segment   = "*" | "**" | LITERAL | Variable
 *     Variable  = "{" FieldPath [ "=" Segments ] "}"
 *     FieldPath = IDENT { "." IDENT }
 *     Verb      = ":" LITERAL
 *
 * LITERAL is RFC 3986 pchar without ":" and "*". Variables do not nest, and "**" is the last
 * segment. Throws PathTemplateError.
 */
export function parsePathTemplate(text: string): PathTemplate {
  return new TemplateParser(text).parse();
}

const literal = /(?:[A-Za-z0-9\-._~!$&'()+,;=@]|%[0-9A-Fa-f]{2})+/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;

class TemplateParser {
  readonly #text: string;
  readonly #segments: TemplateSegment[] = [];
  readonly #variables: TemplateVariable[] = [];
  /** The field paths of the variables so far. */
  readonly #names = new Set<string>();
  #at = 0;
  /** Whether the last segment was "**", after which only the verb can follow. */
  #closed = false;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): PathTemplate {
    if (!this.#skip("/")) this.#fail('"/"');
    this.#parseSegments(false);
    const verb = this.#skip(":") ? this.#literal("a verb") : "";
    if (this.#at < this.#text.length) {
      if (verb !== "") this.#fail("the end of the template after the verb");
      this.#fail(`${this.#closed ? "" : '"/", '}":" or the end of the template`);
    }
    return { text: this.#text, segments: this.#segments, variables: this.#variables, verb };
  }

  #parseSegments(inVariable: boolean): void {
    do this.#parseSegment(inVariable);
    while (!this.#closed && this.#skip("/"));
  }

  #parseSegment(inVariable: boolean): void {
    const char = this.#text[this.#at];
    if (char === "{" && !inVariable) {
      this.#parseVariable();
    } else if (char === "*") {
      this.#at++;
      this.#closed = this.#skip("*");
      this.#segments.push({ kind: this.#closed ? "**" : "*" });
    } else {
      const expected = inVariable
        ? 'a literal, "*" or "**" (variables do not nest)'
        : 'a literal, "*", "**" or "{"';
      this.#segments.push({ kind: "literal", text: this.#literal(expected) });
    }
  }

  #parseVariable(): void {
    this.#at++;
    const nameAt = this.#at;
    const fieldPath = [this.#identifier()];
    while (this.#skip(".")) fieldPath.push(this.#identifier());
    const name = fieldPath.join(".");
    if (this.#names.has(name)) this.#fail("a field that no earlier variable binds", nameAt);
    this.#names.add(name);
    const start = this.#segments.length;
    if (this.#skip("=")) {
      this.#parseSegments(true);
      if (!this.#skip("}")) this.#fail(this.#closed ? '"}"' : '"/" or "}"');
    } else {
      this.#segments.push({ kind: "*" });
      if (!this.#skip("}")) this.#fail('".", "=" or "}"');
    }
    const end = this.#segments.length;
    const multi = this.#closed || end - start > 1;
    this.#variables.push({ fieldPath, start, end: this.#closed ? -1 : end, offset: nameAt, multi });
  }

  #identifier(): string {
    identifier.lastIndex = this.#at;
    const found = identifier.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail("a field name");
    this.#at += found.length;
    return found;
  }

  #literal(expected: string): string {
    literal.lastIndex = this.#at;
    const found = literal.exec(this.#text)?.[0];
    if (found === undefined) return this.#fail(expected);
    try {
      const text = decodeURIComponent(found);
      this.#at += found.length;
      return text;
    } catch {
      return this.#fail("escapes that are UTF-8");
    }
  }

  #skip(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #fail(expected: string, at = this.#at): never {
    const rest = this.#text.slice(at);
    throw new PathTemplateError(
      this.#text,
      at + 1,
      expected,
      rest === "" ? "the end of the template" : shown(rest),
    );
  }
}
