import type { Kysely, Transaction } from "kysely";
import { recordAct, type Act } from "../auth/audit-log.ts";
import type { Caller } from "../auth/caller.ts";
import { accountLimitNames, type AccountLimits } from "../auth/limits.ts";
import type { Tables } from "../database/tables.ts";
import { ServiceError, Violations } from "../std/service-error.ts";

/**
 * The changed limits: a number, 0 for unlimited, or null for the default from the service's
 * settings.
 */
export type LimitChanges = { readonly [Name in keyof AccountLimits]?: number | null | undefined };

/**
 * Returns the maximum of a limit: the largest exact integer for bytes, and the largest int32 of the
 * contract for other limits.
 */
const limitMax = (name: keyof AccountLimits): number =>
  name === "storedBytes" ? Number.MAX_SAFE_INTEGER : 2_147_483_647;

/**
 * Sets limits of an account, for the operator. Every node applies the limits within two seconds.
 * Returns all limits that are set on the account, without those from the settings. Throws
 * invalid_argument with all violations, and not_found.
 */
export async function setAccountLimits(
  db: Kysely<Tables>,
  by: Pick<Caller, "actor" | "origin">,
  accountId: string,
  changes: LimitChanges,
): Promise<Partial<AccountLimits>> {
  checkChanges(changes);
  return await db.transaction().execute(async (trx) => {
    const { limits, act } = await changeLimits(trx, accountId, changes);
    await recordAct(trx, { ...by, accountId }, act);
    return limits;
  });
}

/**
 * Changes limits that have been checked. Returns all limits that are set on the account, and the
 * act for the audit log. Throws not_found.
 */
export async function changeLimits(
  trx: Transaction<Tables>,
  accountId: string,
  changes: LimitChanges,
): Promise<{ readonly limits: Partial<AccountLimits>; readonly act: Act }> {
  const row = await trx
    .selectFrom("account")
    .where("id", "=", accountId)
    .select("limits")
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw new ServiceError("not_found", `there is no account ${accountId}`);
  const limits: Record<string, number> = { ...row.limits };
  const details: Record<string, string> = {};
  for (const name of accountLimitNames) {
    const value = changes[name];
    if (value === undefined) continue;
    details[name] = value === null ? "default" : `${value}`;
    if (value === null) delete limits[name];
    else limits[name] = value;
  }
  await trx
    .updateTable("account")
    .set({ limits: JSON.stringify(limits) })
    .where("id", "=", accountId)
    .execute();
  return { limits, act: { action: "limits.update", resource: `accounts/${accountId}`, details } };
}

function checkChanges(changes: LimitChanges): void {
  const violations = new Violations();
  for (const name of accountLimitNames) {
    const value = changes[name] ?? 0;
    const max = limitMax(name);
    if (Number.isSafeInteger(value) && value >= 0 && value <= max) continue;
    violations.add(name, `must be a whole number from 0 (unlimited) to ${max}, not ${value}`);
  }
  if (Object.values(changes).every((value) => value === undefined)) {
    violations.add("limits", `at least one of ${accountLimitNames.join(", ")} is required`);
  }
  violations.throwIfAny();
}
