import { invalidArgument, type FieldViolation } from "../std/service-error.ts";
import { charCount } from "./segments.ts";

/**
 * The maximum number of violations in a response. If a request has more, only the first of them are
 * returned.
 */
export const violationsMax = 100;

/** Throws invalid_argument with every violation, at most 100. */
export function throwViolations(violations: Iterable<FieldViolation>): void {
  const found = Iterator.from(violations).take(violationsMax).toArray();
  if (found.length > 0) throw invalidArgument(found);
}

/**
 * Finds violations in a text that a caller sends: its length in characters, and invalid Unicode.
 */
export function* checkText(
  field: string,
  text: string,
  charsMax: number,
): Generator<FieldViolation> {
  if (text.length > charsMax) {
    const chars = charCount(text);
    if (chars > charsMax) {
      yield { field, description: `has ${chars} characters; at most ${charsMax} are allowed` };
      return;
    }
  }
  if (text.includes("\0")) yield { field, description: "has a NUL character" };
  if (!text.isWellFormed())
    yield { field, description: "has an unpaired surrogate (invalid Unicode)" };
}

/** Finds the violation of a list that is too long. */
export function* checkCount(
  field: string,
  count: number,
  countMax: number,
  what: string,
): Generator<FieldViolation> {
  if (count > countMax) {
    yield { field, description: `has ${count} ${what}; at most ${countMax} are allowed` };
  }
}
