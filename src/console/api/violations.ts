import { ApiError } from "./api-error.ts";

/**
 * What the service says of a field of a request, or of a part of it ("scopes[0]"); undefined when
 * it says nothing.
 */
export function violationOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.violations.find(
    ({ field: told }) =>
      told === field || told.startsWith(`${field}[`) || told.startsWith(`${field}.`),
  )?.description;
}

/** Whether all that is wrong is told at the fields of a form. */
export function isOfFields(error: unknown, fields: readonly string[]): boolean {
  if (!(error instanceof ApiError) || error.violations.length === 0) return false;
  const told = fields.filter((field) => violationOf(error, field) !== undefined);
  return (
    told.length > 0 &&
    error.violations.every(({ field }) =>
      told.some(
        (known) =>
          field === known || field.startsWith(`${known}[`) || field.startsWith(`${known}.`),
      ),
    )
  );
}
