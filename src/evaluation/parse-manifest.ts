/** The modes in which a recording is recognized, as in the service. */
export const evaluationModes = ["short", "live", "job"] as const;
export type EvaluationMode = (typeof evaluationModes)[number];

/** A line of a manifest. What it leaves out is taken from the options of the command. */
export interface ManifestRow {
  /** The number of the line, from 1; undefined for a recording of a folder. */
  readonly line: number | undefined;
  /** The path of the recording, absolute or relative to the manifest. */
  readonly recording: string;
  /** The reference text; empty only where a problem says so. */
  readonly text: string;
  readonly language?: string;
  readonly model?: string;
  readonly mode?: EvaluationMode;
  /** The phrases that are likely to be said. */
  readonly hints?: readonly string[];
}

/** Something in a manifest that prevents the evaluation. */
export interface ManifestProblem {
  /** The line, or the name of the file. */
  readonly place: string;
  /** What is wrong, and what to do. */
  readonly what: string;
}

export interface ParsedManifest {
  readonly rows: readonly ManifestRow[];
  readonly problems: readonly ManifestProblem[];
}

/** The fields of a line, in the order of the columns of a TSV file without a header. */
const fields = ["recording", "text", "language", "model", "mode", "hints"] as const;
type Field = (typeof fields)[number];
const fieldNames = fields.join(", ");
/** The language tags of BCP 47, as in model cards. */
const languagePattern = /^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$/i;

/**
 * Parses a manifest: JSONL, with an object of strings in each line, if the first line begins with a
 * brace, and otherwise TSV, with the names of the columns in the first line or without. Reports
 * every problem, with its line.
 */
export function parseManifest(text: string): ParsedManifest {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line, at) => ({ line: at + 1, content: line.replace(/\r$/, "") }))
    .filter(({ content }) => content.trim() !== "");
  const parser = new ManifestParser();
  const [first] = lines;
  if (!first) parser.report("line 1", "the manifest has no lines: add a recording and its text");
  else if (first.content.trimStart().startsWith("{")) parser.readJsonLines(lines);
  else parser.readTable(lines);
  return { rows: parser.rows, problems: parser.problems };
}

interface Line {
  readonly line: number;
  readonly content: string;
}

class ManifestParser {
  readonly rows: ManifestRow[] = [];
  readonly problems: ManifestProblem[] = [];

  report(place: string, what: string): void {
    this.problems.push({ place, what });
  }

  readJsonLines(lines: readonly Line[]): void {
    for (const { line, content } of lines) {
      const place = `line ${line}`;
      let value: unknown;
      try {
        value = JSON.parse(content);
      } catch {
        this.report(place, "is not JSON: write one object per line");
        continue;
      }
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        this.report(place, "is not an object: write one object per line");
        continue;
      }
      this.#addRow(line, Object.entries(value));
    }
  }

  readTable([first, ...rest]: readonly Line[]): void {
    if (!first) return;
    const names = first.content.split("\t").map((name) => name.trim());
    const isHeader = names[0] === "recording";
    if (isHeader) this.#checkHeader(first.line, names);
    const columns: readonly string[] = isHeader ? names : fields;
    if (isHeader && rest.length === 0) {
      this.report(`line ${first.line}`, "no recordings follow the header: add a line for each");
    }
    for (const { line, content } of isHeader ? rest : [first, ...rest]) {
      const cells = content.split("\t");
      if (cells.length > columns.length) {
        this.report(
          `line ${line}`,
          `has ${cells.length} columns, but there are ${columns.length} (${columns.join(", ")}): remove the tab`,
        );
        continue;
      }
      // An empty cell of an optional column is absent.
      const entries = cells.map((cell, at) => [columns[at] ?? "", cell.trim()] as const);
      this.#addRow(
        line,
        entries.filter(([name, cell]) => cell !== "" || name === "text"),
      );
    }
  }

  #checkHeader(line: number, names: readonly string[]): void {
    for (const [at, name] of names.entries()) {
      if (!isField(name)) this.report(`line ${line}`, unknownField(name));
      else if (names.indexOf(name) < at) {
        this.report(`line ${line}`, `has the column ${name} twice: remove one`);
      }
    }
    if (!names.includes("text")) {
      this.report(`line ${line}`, "has no column text: add the reference texts");
    }
  }

  #addRow(line: number, entries: readonly (readonly [name: string, value: unknown])[]): void {
    const place = `line ${line}`;
    const values: Partial<Record<Field, string>> = {};
    const problemsBefore = this.problems.length;
    for (const [name, value] of entries) {
      if (!isField(name)) {
        // A header's unknown column is reported once.
        const isKnown = this.problems.some(({ what }) => what === unknownField(name));
        if (!isKnown) this.report(place, unknownField(name));
      } else if (typeof value !== "string") {
        this.report(place, `${name} is not a text: write it in quotation marks`);
      } else values[name] = value;
    }
    const { recording = "", text = "", language, model, mode, hints } = values;
    const isComplete = this.problems.length === problemsBefore;
    if (isComplete && recording === "") {
      this.report(place, "recording is required: the path of a sound file");
    }
    if (recording.includes("\0")) this.report(place, "recording has a null character: remove it");
    if (language !== undefined && !languagePattern.test(language)) {
      const shown = JSON.stringify(language);
      this.report(place, `language ${shown} is not a language code: write one such as is-IS`);
    }
    const known = evaluationModes.find((each) => each === mode);
    if (mode !== undefined && known === undefined) {
      const shown = JSON.stringify(mode);
      this.report(place, `mode ${shown} is unknown: write ${evaluationModes.join(", ")}`);
    }
    const row = {
      line,
      recording,
      text,
      ...(language !== undefined && { language }),
      ...(model !== undefined && { model }),
      ...(known !== undefined && { mode: known }),
      ...(hints !== undefined && { hints: phrasesOf(hints) }),
    };
    if (this.problems.length === problemsBefore) this.rows.push(row);
    // The row stays, so that its file is checked at once.
    if (isComplete && text.trim() === "") {
      this.report(place, "the reference text is empty: write what is said, or remove the line");
    }
  }
}

/** Returns the phrases of a field, which are separated by semicolons. */
function phrasesOf(hints: string): readonly string[] {
  return hints
    .split(";")
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "");
}

function isField(name: string): name is Field {
  return fields.some((field) => field === name);
}

function unknownField(name: string): string {
  return `unknown field ${JSON.stringify(name)}: the fields are ${fieldNames}`;
}
