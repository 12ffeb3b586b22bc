import type { Caller, Scope } from "../auth/caller.ts";
import { ServiceError } from "../std/service-error.ts";

/** Prevents callers from gaining scopes by creating keys or inviting members. */
export function refuseMoreThanOwn(given: Iterable<Scope>, caller: Caller): void {
  const missing = Array.from(given).filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  throw new ServiceError(
    "permission_denied",
    `you can only grant scopes that you have: you lack ${missing.join(", ")}`,
    { reason: "SCOPE_MISSING", metadata: { scope: missing.join(",") } },
  );
}
