import type { FieldViolation } from "../api/api-error.ts";
import { formViolationText } from "../text/form-violations.ts";
import { SaidText } from "./said-text.tsx";

/** The most violations that are shown: another attempt shows the others. */
const shownMax = 5;

/** The violations of a request, in the console's words. */
export function ViolationList({ violations }: { readonly violations: readonly FieldViolation[] }) {
  return (
    <ul className="violations">
      {violations.slice(0, shownMax).map((violation) => (
        <li key={`${violation.field} ${violation.description}`}>
          <SaidText said={formViolationText(violation)} />
        </li>
      ))}
    </ul>
  );
}
