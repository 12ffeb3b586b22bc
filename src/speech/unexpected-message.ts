import { ServiceError } from "../std/service-error.ts";

/** A message that may not come where it came; names what was expected (decisions: Speech). */
export function unexpectedMessage(came: string, expected: string): ServiceError {
  return new ServiceError("invalid_argument", `${came} came: expected ${expected}`, {
    reason: "UNEXPECTED_MESSAGE",
  });
}
