import type { Caller, Scope } from "../auth/caller.ts";
import { ServiceError } from "../std/service-error.ts";

/** Prevents that a caller gains scopes by creating keys or inviting members. */
export function refuseMoreThanOwn(given: Iterable<Scope>, caller: Caller): void {
  const missing = Array.from(given).filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  throw new ServiceError(
    "permission_denied",
    `a caller can only give scopes that it has: this one lacks ${missing.join(", ")}`,
    { reason: "SCOPE_MISSING", metadata: { scope: missing.join(",") } },
  );
}
