import type { Violations } from "./service-error.ts";

export const displayNameLengthMax = 200;
/** The form of a display name: without control characters. */
// oxlint-disable-next-line no-control-regex -- it names them
export const displayNamePattern = /^[^\x00-\x1f\x7f-\x9f]*$/;

/**
 * Checks the name of an account or a key. It is shown to users, so it must be short and without
 * control characters.
 */
export function checkDisplayName(name: string, violations: Violations): void {
  const length = Array.from(name).length;
  if (length > displayNameLengthMax) {
    violations.add(
      "displayName",
      `has ${length} characters; at most ${displayNameLengthMax} are allowed`,
    );
  }
  if (!displayNamePattern.test(name)) violations.add("displayName", "has a control character");
}
