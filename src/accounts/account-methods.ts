import { create, type DescField, type DescMessage } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, Selectable, Updateable } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { AccountTable } from "../database/access-tables.ts";
import type { Tables } from "../database/tables.ts";
import {
  AccountSchema,
  type Account,
  type Accounts,
  type UpdateAccountRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import type { Log } from "../std/log.ts";
import { shown, Violations } from "../std/service-error.ts";
import { usedLimits, type UsedLimits } from "./used-limits.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { accountDeleted } from "./lock-account.ts";
import { checkDefaults, readDefaults, storedDefaults } from "./recording-defaults.ts";

/** The maximum retention in days: a hundred years. A retention of 0 keeps everything forever. */
export const retentionDaysMax = 36_500;

/** The fields of an account that its callers can change. */
const changeable = [
  "displayName",
  "mediaRetentionDays",
  "transcriptRetentionDays",
  "vocabularyCandidatesDisabled",
  "recordingDefaults",
] as const;
type Changeable = (typeof changeable)[number];

/** Creates the RPCs of an account itself: its name, retention times and settings. */
export function accountMethods(parts: {
  readonly db: Kysely<Tables>;
  readonly meter: Pick<Meter, "limitsOf" | "useOf">;
  readonly log: Log;
}) {
  const { db } = parts;
  return {
    async getAccount(_request, context) {
      const row = await db
        .selectFrom("account")
        .selectAll()
        .where("id", "=", callerOf(context).accountId)
        .executeTakeFirst();
      if (!row) throw accountDeleted();
      return accountMessage(row, await usedLimits(parts, row.id));
    },

    async updateAccount(request, context) {
      const caller = callerOf(context);
      const change = readChange(request);
      const row = await audited(parts, caller, async (trx, record) => {
        const changedRow = await trx
          .updateTable("account")
          .set(change)
          .where("id", "=", caller.accountId)
          .returningAll()
          .executeTakeFirst();
        if (!changedRow) throw accountDeleted();
        const changed = AccountSchema.fields.filter(({ name }) => Object.hasOwn(change, name));
        const details = { fields: changed.map(({ jsonName }) => jsonName).join(",") };
        const resource = `accounts/${caller.accountId}`;
        await record({ action: "account.update", resource, details });
        return changedRow;
      });
      // The limits are read after the commit, because a transaction that waits for a second
      // connection would block the transactions that wait for its row.
      return accountMessage(row, await usedLimits(parts, row.id));
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/** Returns the columns that an update sets. Throws all violations of the named fields. */
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
  if (fields.has("vocabularyCandidatesDisabled")) {
    change.vocabulary_candidates_disabled = account.vocabularyCandidatesDisabled;
  }
  if (fields.has("recordingDefaults")) {
    const { recordingDefaults: defaults } = account;
    if (defaults) checkDefaults(defaults, violations);
    change.recording_defaults = defaults ? storedDefaults(defaults) : null;
  }
  if (violations.isEmpty && fields.size === 0) {
    violations.add("account", `at least one of ${changeable.join(", ")} is required`);
  }
  violations.throwIfAny();
  return change;
}

/**
 * Returns the fields in the mask, by proto or JSON name; without a mask, the fields that are set. A
 * path below `recordingDefaults` names all of them. `name` is output only and is skipped.
 */
function fieldsOf(
  { updateMask }: UpdateAccountRequest,
  account: Account,
  violations: Violations,
): Set<Changeable> {
  const paths = updateMask?.paths ?? [];
  if (paths.length === 0) {
    return new Set(changeable.filter((field) => Boolean(account[field])));
  }
  const fields = new Set<Changeable>();
  for (const path of paths) {
    const [top = "", ...below] = path.split(".");
    const named = fieldNamed(AccountSchema, top);
    const field = changeable.find((each) => each === named?.localName);
    const isMessage = named?.fieldKind === "message";
    const problem = below.length > 0 && isMessage && problemBelow(named.message, below);
    if (!named || (below.length > 0 && !isMessage)) {
      violations.add("updateMask", `${shown(path)} is not a field of an account`);
    } else if (problem) violations.add("updateMask", `${shown(path)} ${problem}`);
    else if (field) fields.add(field);
  }
  return fields;
}

/** Returns what is wrong with the part of a path below a message; undefined if nothing is. */
function problemBelow(message: DescMessage, [top = "", ...below]: string[]): string | undefined {
  const named = fieldNamed(message, top);
  if (!named) {
    const known = message.fields.map(({ jsonName }) => jsonName).join(", ");
    return `is not a field of ${message.name}, which has ${known}`;
  }
  if (below.length === 0) return undefined;
  if (named.fieldKind !== "message")
    return `names a part of ${named.jsonName}, which has no fields`;
  return problemBelow(named.message, below);
}

function fieldNamed(message: DescMessage, text: string): DescField | undefined {
  return message.fields.find(({ name, jsonName }) => name === text || jsonName === text);
}

/** Returns the retention as the column stores it. null means that nothing is deleted. */
function readDays(
  field: "mediaRetentionDays" | "transcriptRetentionDays",
  account: Account,
  violations: Violations,
): number | null {
  const days = account[field];
  if (days < 0 || days > retentionDaysMax) {
    violations.add(field, `must be 0 (never) to ${retentionDaysMax} days, not ${days}`);
  }
  return days === 0 ? null : days;
}

function accountMessage(row: Selectable<AccountTable>, used: UsedLimits): Account {
  const recordingDefaults = readDefaults(row.recording_defaults);
  return create(AccountSchema, {
    ...used,
    name: `accounts/${row.id}`,
    displayName: row.display_name,
    mediaRetentionDays: row.media_retention_days ?? 0,
    transcriptRetentionDays: row.transcript_retention_days ?? 0,
    vocabularyCandidatesDisabled: row.vocabulary_candidates_disabled,
    ...(recordingDefaults && { recordingDefaults }),
  });
}
