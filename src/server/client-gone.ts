import { ServiceError } from "../std/service-error.ts";

/** The reason of a call that ended because its client closed the request or the connection. */
export function clientGone(): ServiceError {
  return new ServiceError("cancelled", "the client closed the request");
}
