import { ServiceError } from "../std/service-error.ts";

/**
 * Creates the error for a message that is out of order. The error names the expected message
 * (docs/api.md, Speech).
 */
export function unexpectedMessage(received: string, expected: string): ServiceError {
  return new ServiceError("invalid_argument", `expected ${expected}, not ${received}`, {
    reason: "UNEXPECTED_MESSAGE",
  });
}
