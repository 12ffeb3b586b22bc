import { ServiceError } from "../std/service-error.ts";

/** The error of a message out of order; names the expected one (docs/api.md, Speech). */
export function unexpectedMessage(received: string, expected: string): ServiceError {
  return new ServiceError("invalid_argument", `expected ${expected}, not ${received}`, {
    reason: "UNEXPECTED_MESSAGE",
  });
}
