import { ServiceError } from "../std/service-error.ts";

/** Returns the reason for ending a call whose client closed the request or the connection. */
export function clientGone(): ServiceError {
  return new ServiceError("cancelled", "the client closed the request");
}
