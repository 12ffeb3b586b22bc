import { checkDisplayName } from "../../std/display-name.ts";
import { Violations } from "../../std/service-error.ts";

/** Returns a display name after the same check as in the API. Throws invalid_argument. */
export function checkedName(name: string): string {
  const violations = new Violations();
  checkDisplayName(name, violations);
  violations.throwIfAny();
  return name;
}
