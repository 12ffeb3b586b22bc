import { ApiError, type FieldViolation } from "./api-error.ts";

/** Returns the first violation in a field, or in a part of it; undefined if there is none. */
export function violationIn(error: unknown, field: string): FieldViolation | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.violations.find((violation) => isWithin(violation.field, field));
}

/**
 * Returns whether every violation is in one of these fields, so that a form with the fields shows
 * all violations.
 */
export function areAllInFields(error: unknown, fields: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.violations.length === 0) return false;
  return error.violations.every(({ field }) => fields.some((known) => isWithin(field, known)));
}

function isWithin(field: string, known: string): boolean {
  return field === known || field.startsWith(`${known}[`) || field.startsWith(`${known}.`);
}
