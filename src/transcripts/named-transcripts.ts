import { idIn } from "../std/ids.ts";
import { invalidArgument, shown, type FieldViolation } from "../std/service-error.ts";

/** The maximum number of transcripts that one call of a batch names. */
export const namesMax = 100;

/**
 * Returns the ids in names of the form transcripts/<id>, each once. Throws invalid_argument with
 * every name of another form, or if there are none or too many.
 */
export function idsNamed(names: readonly string[], limit = namesMax): readonly string[] {
  if (names.length === 0) throw invalidArgument([{ field: "names", description: "is required" }]);
  if (names.length > limit) {
    const description = `has ${names.length} names; at most ${limit} are allowed`;
    throw invalidArgument([{ field: "names", description }]);
  }
  const ids = names.map((name) => idIn("transcripts", name));
  const violations = ids.flatMap((id, at): FieldViolation[] => {
    const description = `must be transcripts/<transcript_id>, not ${shown(names[at] ?? "")}`;
    return id === undefined ? [{ field: `names[${at}]`, description }] : [];
  });
  if (violations.length > 0) throw invalidArgument(violations);
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
