import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Selectable, Updateable } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { AccountTable } from "../database/tables.ts";
import {
  AccountSchema,
  type Account,
  type Accounts,
  type UpdateAccountRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { ServiceError, shown, Violations } from "../std/service-error.ts";
import type { AccountsParts } from "./accounts-service.ts";
import { checkDisplayName } from "../std/display-name.ts";

/** A hundred years: what is to stay longer stays for good. */
export const retentionDaysMax = 36_500;

/** What of an account is its own to change. */
const changeable = ["displayName", "mediaRetentionDays", "transcriptRetentionDays"] as const;
type Changeable = (typeof changeable)[number];

/** The RPCs of an account itself: its name, and for how long it keeps what it has. */
export function accountMethods({ db, log }: AccountsParts) {
  return {
    async getAccount(_request, context) {
      const row = await db
        .selectFrom("account")
        .selectAll()
        .where("id", "=", callerOf(context).accountId)
        .executeTakeFirst();
      if (!row) throw accountGone();
      return accountMessage(row);
    },

    async updateAccount(request, context) {
      const { accountId, keyId } = callerOf(context);
      const change = readChange(request);
      const row = await db
        .updateTable("account")
        .set(change)
        .where("id", "=", accountId)
        .returningAll()
        .executeTakeFirst();
      if (!row) throw accountGone();
      const fields = Object.keys(change);
      log.info({ accountId, by: keyId, fields }, "account.changed");
      return accountMessage(row);
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/** The columns that an update sets. Throws every violation of the fields that it names. */
function readChange(request: UpdateAccountRequest): Updateable<AccountTable> {
  const account = request.account ?? create(AccountSchema);
  const violations = new Violations();
  const fields = fieldsOf(request, account, violations);
  const change: Updateable<AccountTable> = {};
  if (fields.has("displayName")) {
    checkDisplayName(account.displayName, violations);
    change.display_name = account.displayName;
  }
  if (fields.has("mediaRetentionDays")) {
    change.media_retention_days = readDays("mediaRetentionDays", account, violations);
  }
  if (fields.has("transcriptRetentionDays")) {
    change.transcript_retention_days = readDays("transcriptRetentionDays", account, violations);
  }
  if (violations.isEmpty && fields.size === 0) {
    violations.add("account", `at least one of ${changeable.join(", ")} is required`);
  }
  violations.throwIfAny();
  return change;
}

/** The fields that a mask names, in proto or JSON names; without a mask, those that are set. `name` is output only, and skipped. */
function fieldsOf(
  { updateMask }: UpdateAccountRequest,
  account: Account,
  violations: Violations,
): Set<Changeable> {
  const paths = updateMask?.paths ?? [];
  if (paths.length === 0) {
    return new Set(changeable.filter((field) => account[field] !== 0 && account[field] !== ""));
  }
  const fields = new Set<Changeable>();
  for (const path of paths) {
    const named = AccountSchema.fields.find(({ name, jsonName }) =>
      [name, jsonName].includes(path),
    );
    const field = changeable.find((each) => each === named?.localName);
    if (field) fields.add(field);
    else if (!named) violations.add("updateMask", `${shown(path)} is not a field of an account`);
  }
  return fields;
}

/** null: never. */
function readDays(
  field: "mediaRetentionDays" | "transcriptRetentionDays",
  account: Account,
  violations: Violations,
): number | null {
  const days = account[field];
  if (days < 0 || days > retentionDaysMax) {
    violations.add(field, `is ${days}: from 0 (never) to ${retentionDaysMax} days`);
  }
  return days === 0 ? null : days;
}

function accountMessage(row: Selectable<AccountTable>): Account {
  return create(AccountSchema, {
    name: `accounts/${row.id}`,
    displayName: row.display_name,
    mediaRetentionDays: row.media_retention_days ?? 0,
    transcriptRetentionDays: row.transcript_retention_days ?? 0,
  });
}

/** Deleted since its key was looked up. */
function accountGone(): ServiceError {
  return new ServiceError("unauthenticated", "the account is gone");
}
