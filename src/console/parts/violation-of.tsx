import type { ReactNode } from "react";
import { violationIn } from "../api/violations.ts";
import { formViolationText } from "../text/form-violations.ts";
import { SaidText } from "./said-text.tsx";

/**
 * Returns the violation in a field, or in a part of it ("scopes[0]"), in the console's words;
 * undefined if there is none.
 */
export function violationOf(error: unknown, field: string): ReactNode {
  const violation = violationIn(error, field);
  return violation && <SaidText said={formViolationText(violation)} />;
}
