import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type Transaction } from "kysely";
import { changeLimits, type LimitChanges } from "../accounts/set-account-limits.ts";
import { logAct, operatorOf, recordAct, type Act } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import { accountLimitNames, type AccountLimits } from "../auth/limits.ts";
import type { Tables } from "../database/tables.ts";
import {
  ManagedAccountSchema,
  type ManagedAccount,
  type Operator,
  type OwnLimits,
  type UpdateManagedAccountRequest,
} from "../gen/hlust/operator/v1/operator_pb.ts";
import { idIn } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError, shown, Violations } from "../std/service-error.ts";
import { managedAccountMessage, readManagedAccounts } from "./managed-accounts.ts";

interface ManagedAccountParts {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  readonly accountLimits: AccountLimits;
  readonly log: Log;
}

/** Creates the RPCs with which operators see and change accounts. */
export function managedAccountMethods(parts: ManagedAccountParts) {
  const { db, pageTokens, accountLimits, log } = parts;
  return {
    async listManagedAccounts(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "managedAccounts", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const rows = await readManagedAccounts(db, { after: page.after, limit: page.size + 1 });
      const listed = rows.slice(0, page.size);
      const last = rows.length > page.size ? listed.at(-1) : undefined;
      return {
        accounts: listed.map((row) => managedAccountMessage(row, accountLimits)),
        nextPageToken: last ? pageTokens.write(scope, [last.position, last.id]) : "",
      };
    },

    async updateManagedAccount(request, context) {
      const caller = callerOf(context);
      const account = request.managedAccount ?? create(ManagedAccountSchema);
      const change = readChange(request, account);
      const id = idIn("accounts", account.name);
      if (id === undefined) throw accountNotFound(account.name);
      if (change.disabled === true && id === caller.accountId) throw ownAccount();
      const acts = await db.transaction().execute((trx) => changeAccount(trx, id, change, caller));
      for (const act of acts) logAct(log, caller, act);
      const [row] = await readManagedAccounts(db, { id, limit: 1 });
      if (!row) throw accountNotFound(account.name);
      return managedAccountMessage(row, accountLimits);
    },
  } satisfies Partial<ServiceImpl<typeof Operator>>;
}

interface AccountChange {
  readonly disabled: boolean | undefined;
  /** All limits, with null for those of the settings. */
  readonly limits: LimitChanges | undefined;
}

/**
 * Changes an account. Each act is in two audit logs: in that of the account by `operator`, as for
 * the command line, and in that of the caller's account by the caller.
 */
async function changeAccount(
  trx: Transaction<Tables>,
  id: string,
  { disabled, limits }: AccountChange,
  caller: Caller,
): Promise<readonly Act[]> {
  const resource = `accounts/${id}`;
  const row = await trx
    .selectFrom("account")
    .select("disabled_at")
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw accountNotFound(resource);
  const acts: Act[] = [];
  if (limits) acts.push((await changeLimits(trx, id, limits)).act);
  if (disabled !== undefined && disabled !== (row.disabled_at !== null)) {
    await trx
      .updateTable("account")
      .set({ disabled_at: disabled ? sql<Date>`now()` : null })
      .where("id", "=", id)
      .execute();
    acts.push({ action: disabled ? "account.disable" : "account.enable", resource });
  }
  for (const act of acts) {
    await recordAct(trx, caller, act);
    if (id !== caller.accountId) await recordAct(trx, operatorOf(id), act);
  }
  return acts;
}

const changeable = ["disabled", "ownLimits"] as const;
type Changeable = (typeof changeable)[number];

/** Returns what an update changes. Throws all violations. */
function readChange(
  { updateMask }: UpdateManagedAccountRequest,
  account: ManagedAccount,
): AccountChange {
  const violations = new Violations();
  const fields = fieldsOf(updateMask?.paths, account, violations);
  const limits = fields.has("ownLimits") ? readLimits(account.ownLimits, violations) : undefined;
  violations.throwIfAny();
  return { disabled: fields.has("disabled") ? account.disabled : undefined, limits };
}

/**
 * Returns the fields in the mask, by proto or JSON name; without a mask, the fields that are set. A
 * path below `ownLimits` names all limits. Output-only fields are skipped.
 */
function fieldsOf(
  paths: readonly string[] = [],
  { disabled, ownLimits }: ManagedAccount,
  violations: Violations,
): Set<Changeable> {
  const fields = new Set<Changeable>();
  if (paths.length === 0) {
    if (disabled) fields.add("disabled");
    if (ownLimits) fields.add("ownLimits");
  }
  for (const path of paths) {
    const [top = ""] = path.split(".", 1);
    const named = ManagedAccountSchema.fields.find(({ name, jsonName }) =>
      [name, jsonName].includes(top),
    );
    const field = changeable.find((each) => each === named?.localName);
    if (field) fields.add(field);
    else if (!named) violations.add("updateMask", `${shown(path)} is not a field of an account`);
  }
  if (violations.isEmpty && fields.size === 0) {
    violations.add("managedAccount", `at least one of ${changeable.join(", ")} is required`);
  }
  return fields;
}

function readLimits(limits: OwnLimits | undefined, violations: Violations): LimitChanges {
  const changes: { -readonly [Name in keyof LimitChanges]: LimitChanges[Name] } = {};
  for (const name of accountLimitNames) {
    const value = limits?.[name];
    if (value !== undefined && (value < 0 || value > Number.MAX_SAFE_INTEGER)) {
      const range = `from 0 (unlimited) to ${Number.MAX_SAFE_INTEGER}`;
      violations.add(`ownLimits.${name}`, `must be a whole number ${range}, not ${value}`);
    }
    changes[name] = value === undefined ? null : Number(value);
  }
  return changes;
}

function accountNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no ${shown(name)}`);
}

function ownAccount(): ServiceError {
  const problem = "this is your own account: if you disabled it, you could not enable it again";
  return new ServiceError("failed_precondition", problem, { reason: "OWN_ACCOUNT" });
}
