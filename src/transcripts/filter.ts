import { shown, type FieldViolation } from "../std/service-error.ts";
import { charCount } from "./segments.ts";

/** A clause of a filter. */
export type Clause =
  | { readonly by: "subject"; readonly text: string }
  /** At least one of these keywords is present. */
  | { readonly by: "keywords"; readonly keywords: readonly string[] }
  /** The job has this state. */
  | { readonly by: "state"; readonly state: string }
  /** The language, ignoring case. */
  | { readonly by: "language"; readonly language: string }
  /** At least one of these people speaks: exact names. */
  | { readonly by: "speakers"; readonly names: readonly string[] }
  /** The recording is at least this long, or shorter. It has a known duration. */
  | { readonly by: "duration"; readonly is: Comparison; readonly ms: number }
  /** The current version was created at this time or later, or before it. */
  | { readonly by: "time"; readonly is: Comparison; readonly time: Date };

/** How a clause compares a duration or a time. */
export type Comparison = ">=" | "<";

/** A filter of a list (§4.3): clauses that all hold. */
export type Filter = readonly Clause[];

/** The maximum length of a filter (docs/api.md, Transcripts). */
export const filterCharsMax = 4096;
/** The maximum number of clauses of a filter. */
export const clausesMax = 10;

/** What a filter may have in addition to the two forms of §4.3. */
export interface FilterForms {
  /** The states of jobs. Default: none, without `state`. */
  readonly states?: readonly string[];
  /** Whether the list is of transcripts, which have more forms. Default: false. */
  readonly ofTranscripts?: boolean;
}

/**
 * Reads the two forms of §4.3, with `states` a form for jobs, and `ofTranscripts` four more forms
 * (extension), in one pass from left to right:
 *
 *     metadata.subject CONTAINS "<text>"
 *     metadata.keywords CONTAINS ["<keyword>", ...]
 *     state = "<state>"
 *     metadata.language_code = "<code>"
 *     metadata.speakers CONTAINS ["<full name>", ...]
 *     metadata.recording_duration >= "<seconds>s"    or <
 *     version.creation_time >= "<RFC 3339>"          or <
 *
 * Several clauses are joined with AND (extension). For any other text, reports what was expected at
 * which column (in characters, from 1).
 */
export function parseFilter(source: string, forms: FilterForms = {}): Filter | FieldViolation {
  const length = charCount(source);
  if (length > filterCharsMax) {
    return violation(`has ${length} characters; at most ${filterCharsMax} are allowed`);
  }
  try {
    const clauses = readClauses(new Scanner(source), forms);
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

function readClauses(scanner: Scanner, forms: FilterForms): Clause[] {
  const clauses = [readClause(scanner, forms)];
  while (scanner.endOr("AND") === "AND") clauses.push(readClause(scanner, forms));
  return clauses;
}

const ofTranscripts = [
  "metadata.language_code",
  "metadata.languageCode",
  "metadata.speakers",
  "metadata.recording_duration",
  "metadata.recordingDuration",
  "version.creation_time",
  "version.creationTime",
];

function readClause(scanner: Scanner, { states = [], ...forms }: FilterForms): Clause {
  const field = scanner.oneOf(
    "metadata.subject",
    "metadata.keywords",
    ...(states.length > 0 ? ["state"] : []),
    ...(forms.ofTranscripts ? ofTranscripts : []),
  );
  switch (field) {
    case "state": {
      scanner.oneOf("=");
      const state = scanner.oneOf(...states.map((name) => `"${name}"`));
      return { by: "state", state: state.slice(1, -1) };
    }
    case "metadata.language_code":
    case "metadata.languageCode":
      scanner.oneOf("=");
      return { by: "language", language: scanner.text() };
    case "metadata.speakers":
      scanner.oneOf("CONTAINS");
      return { by: "speakers", names: readTexts(scanner) };
    case "metadata.recording_duration":
    case "metadata.recordingDuration":
      return { by: "duration", is: readComparison(scanner), ms: scanner.value(msOf, durationForm) };
    case "version.creation_time":
    case "version.creationTime":
      return { by: "time", is: readComparison(scanner), time: scanner.value(timeOf, timeForm) };
    case "metadata.subject":
      scanner.oneOf("CONTAINS");
      return { by: "subject", text: scanner.text() };
    default:
      scanner.oneOf("CONTAINS");
      return { by: "keywords", keywords: readTexts(scanner) };
  }
}

function readTexts(scanner: Scanner): string[] {
  scanner.oneOf("[");
  const texts = [scanner.text()];
  while (scanner.oneOf(",", "]") === ",") texts.push(scanner.text());
  return texts;
}

function readComparison(scanner: Scanner): Comparison {
  return scanner.oneOf(">=", "<") === "<" ? "<" : ">=";
}

const durationForm = 'a duration such as "90s", at most "2147483s"';

function msOf(text: string): number | undefined {
  const [, seconds] = /^(\d{1,7}(?:\.\d{1,3})?)s$/.exec(text) ?? [];
  const ms = seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
  return ms !== undefined && ms < 2 ** 31 ? ms : undefined;
}

const timeForm = 'a time such as "2026-11-28T00:00:00Z"';

function timeOf(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
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

  /** Reads a text in double quotes as a value; throws Expected with its form for any other text. */
  value<T>(read: (text: string) => T | undefined, form: string): T {
    this.#skipSpaces();
    const from = this.#at;
    const value = read(this.text());
    if (value !== undefined) return value;
    this.#at = from;
    throw this.#expected(form);
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
