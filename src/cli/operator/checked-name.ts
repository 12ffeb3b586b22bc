import { checkDisplayName } from "../../std/display-name.ts";
import { Violations } from "../../std/service-error.ts";

/** A display name, checked as by the API. Throws invalid_argument. */
export function checkedName(name: string): string {
  const violations = new Violations();
  checkDisplayName(name, violations);
  violations.throwIfAny();
  return name;
}
