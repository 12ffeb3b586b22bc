/** A line that is imported, with its number in the text, from 1. */
export interface PhraseLine {
  readonly line: number;
  readonly phrase: string;
}

/** A problem of a line; `line` is undefined if it is a problem of the whole list. */
export interface LineProblem {
  readonly line: number | undefined;
  readonly description: string;
}

/** Returns the lines of a text that are not empty. */
export function linesOf(text: string): PhraseLine[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((each, index) => ({ line: index + 1, phrase: each.trim() }))
    .filter(({ phrase }) => phrase !== "");
}

/** Returns the violations of an import by line, in the order of the lines. */
export function lineProblems(
  violations: readonly { readonly field: string; readonly description: string }[],
  lines: readonly PhraseLine[],
): LineProblem[] {
  return violations
    .map(({ field, description }) => {
      const [, index] = /^phrases\[(\d+)\]/.exec(field) ?? [];
      return { line: index === undefined ? undefined : lines[Number(index)]?.line, description };
    })
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
