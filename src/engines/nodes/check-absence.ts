import { absenceKinds, type EngineAbsence } from "../protocol/engine-absence.ts";
import { checkNumber, isObject, isText } from "./unchecked.ts";

const reasonLettersMax = 50_000;
/** A server may have been absent for years. */
const absentMsMax = 1e12;

/**
 * Returns why the server of a hosted model is absent, which is shown, stored and logged. Throws an
 * Error if it is not an absence.
 */
export function checkedAbsence(value: unknown): EngineAbsence | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw new Error("absence is not an object");
  const { reason, absentMs } = value;
  const kind = absenceKinds.find((each) => each === value["kind"]);
  if (kind === undefined) throw new Error("absence.kind must be UNREACHABLE, BUSY or DENIED");
  if (!isText(reason, reasonLettersMax)) throw new Error("absence.reason is not a text");
  return { kind, reason, absentMs: checkNumber(absentMs, "absence.absentMs", absentMsMax) };
}
