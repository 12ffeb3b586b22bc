import type { Caller, Scope } from "../auth/caller.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * Whoever may make keys or invite members must not come to more by it than they may do themselves.
 */
export function refuseMoreThanOwn(given: Iterable<Scope>, caller: Caller): void {
  const missing = Array.from(given).filter((scope) => !caller.scopes.has(scope));
  if (missing.length === 0) return;
  throw new ServiceError(
    "permission_denied",
    `scopes can only be given by whoever has them: this call's caller lacks ${missing.join(", ")}`,
    { reason: "SCOPE_MISSING", metadata: { scope: missing.join(",") } },
  );
}
