import { ServiceError } from "../std/service-error.ts";

/** The delay after which a client sends a call again, probably to another node. */
const retryAfterMs = 1_000;

/**
 * Returns the error of a call or a stream that a node refuses or ends because it is shutting down.
 */
export function shuttingDown(what: "call" | "stream"): ServiceError {
  const again = what === "stream" ? "open the stream again" : "send the call again";
  return new ServiceError("unavailable", `the service is shutting down: ${again}`, {
    reason: "SHUTTING_DOWN",
    retryAfterMs,
  });
}
