import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, Transaction } from "kysely";
import { newApiKey } from "../auth/api-key.ts";
import { audited } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import { knownScopes } from "../auth/key-store.ts";
import { keyLimitNames, type KeyLimits } from "../auth/limits.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import {
  ApiKeySchema,
  type Accounts,
  type UpdateApiKeyRequest,
  type UpdateClientKeyRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { checkDisplayName } from "../std/display-name.ts";
import { idIn } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown, Violations } from "../std/service-error.ts";
import { checkKeyLimits } from "./key-limits.ts";
import { apiKeyMessage, clientKeyMessage, collections, type KeyKind } from "./key-messages.ts";
import { refuseMoreThanOwn } from "./refuse-more-than-own.ts";

/** The maximum time for which the previous secret of a key stays valid, in days. */
const previousSecretDaysMax = 90;
const dayMs = 86_400_000;

interface KeyParts {
  readonly db: Kysely<Tables>;
  readonly meter: Pick<Meter, "limitsOf">;
  readonly log: Log;
  readonly now?: () => number;
}

/** The RPCs that change keys: their names, limits and secrets. */
export function keyChanges(parts: KeyParts) {
  return {
    async updateApiKey(request, context) {
      const update = { kind: "api_key", key: request.apiKey, request } as const;
      const row = await updateKey(parts, update, callerOf(context), async (trx, id, change) => {
        const changed = trx.updateTable("api_key").set(change).where("id", "=", id);
        return await changed.returningAll().executeTakeFirstOrThrow();
      });
      return apiKeyMessage(row, now(parts));
    },

    async updateClientKey(request, context) {
      const update = { kind: "client_key", key: request.clientKey, request } as const;
      const row = await updateKey(parts, update, callerOf(context), async (trx, id, change) => {
        const changed = trx.updateTable("client_key").set(change).where("id", "=", id);
        return await changed.returningAll().executeTakeFirstOrThrow();
      });
      return clientKeyMessage(row);
    },

    async rotateApiKey({ name, previousSecretExpireTime }, context) {
      const caller = callerOf(context);
      const until = checkPreviousUntil(previousSecretExpireTime, now(parts));
      const { key: own } = await parts.meter.limitsOf(caller);
      const { row, secret } = await audited(parts, caller, async (trx, record) => {
        const id = await lockKey(trx, "api_key", name, caller);
        const stored = trx.selectFrom("api_key").selectAll().where("id", "=", id);
        const before = await stored.executeTakeFirstOrThrow();
        refuseMoreThanOwn(knownScopes(before.scopes), caller);
        refuseHigherLimits(before.limits, own);
        const made = newApiKey(id);
        const changed = await trx
          .updateTable("api_key")
          .set({
            secret_hash: made.secretHash,
            previous_secret_hash: until && before.secret_hash,
            previous_secret_until: until,
          })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const { display_name: displayName } = before;
        const details = { displayName, ...(until && { previousUntil: until.toISOString() }) };
        await record({ action: "api_key.rotate", resource: name, details });
        return { row: changed, secret: made.token };
      });
      return { apiKey: apiKeyMessage(row, now(parts)), secret };
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

function now({ now: clock = Date.now }: KeyParts): number {
  return clock();
}

/** A change of a key, as the columns store it. */
interface KeyChange {
  readonly display_name?: string;
  readonly limits?: string;
}

async function updateKey<Row>(
  parts: KeyParts,
  {
    kind,
    key,
    request,
  }: {
    readonly kind: KeyKind;
    readonly key: UpdateApiKeyRequest["apiKey"] | UpdateClientKeyRequest["clientKey"];
    readonly request: UpdateApiKeyRequest | UpdateClientKeyRequest;
  },
  caller: Caller,
  write: (trx: Transaction<Tables>, id: string, change: KeyChange) => Promise<Row>,
): Promise<Row> {
  const { name = "", displayName = "", limits: asked } = key ?? {};
  const violations = new Violations();
  const fields = fieldsOf(request.updateMask?.paths, key, violations);
  const { key: own } = await parts.meter.limitsOf(caller);
  if (fields.has("displayName")) checkDisplayName(displayName, violations);
  const limits = fields.has("limits") ? checkKeyLimits(asked, own, violations) : undefined;
  violations.throwIfAny();
  const named = fields.has("displayName") ? displayName : undefined;
  const change = {
    ...(named !== undefined && { display_name: named }),
    ...(limits !== undefined && { limits }),
  };
  return await audited(parts, caller, async (trx, record) => {
    const row = await write(trx, await lockKey(trx, kind, name, caller), change);
    const details = {
      ...(named !== undefined && { displayName: named }),
      ...(limits !== undefined && { limits }),
    };
    await record({ action: `${kind}.update`, resource: name, details });
    return row;
  });
}

/**
 * Locks a key for a change, and returns its id. A key of another account is treated as nonexistent.
 */
async function lockKey(
  trx: Transaction<Tables>,
  kind: KeyKind,
  name: string,
  { accountId }: Caller,
): Promise<string> {
  const id = idIn(collections[kind], name);
  const row =
    id &&
    (await trx
      .selectFrom(kind)
      .select("id")
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .forUpdate()
      .executeTakeFirst());
  if (!row) throw new ServiceError("not_found", `there is no ${shown(name)}`);
  return row.id;
}

const changeable = ["displayName", "limits"] as const;
type Changeable = (typeof changeable)[number];

/**
 * Returns the fields in the mask, by proto or JSON name; without a mask, the fields that are set. A
 * path below `limits` names all limits.
 */
function fieldsOf(
  paths: readonly string[] = [],
  key: { readonly displayName: string; readonly limits?: object | undefined } | undefined,
  violations: Violations,
): Set<Changeable> {
  const fields = new Set<Changeable>();
  if (paths.length === 0) {
    if (key?.displayName) fields.add("displayName");
    if (key?.limits) fields.add("limits");
  }
  const known = new Set(ApiKeySchema.fields.flatMap(({ name, jsonName }) => [name, jsonName]));
  for (const path of paths) {
    const [top = ""] = path.split(".", 1);
    if (top === "display_name" || top === "displayName") fields.add("displayName");
    else if (top === "limits") fields.add("limits");
    else if (!known.has(top))
      violations.add("updateMask", `${shown(path)} is not a field of a key`);
  }
  if (violations.isEmpty && fields.size === 0) {
    violations.add("updateMask", `at least one of ${changeable.join(", ")} is required`);
  }
  return fields;
}

/** Returns until when the previous secret stays valid; null if it becomes invalid immediately. */
function checkPreviousUntil(time: Timestamp | undefined, nowMs: number): Date | null {
  if (!time) return null;
  const violations = new Violations();
  const ms = Number(time.seconds) * 1000 + Math.floor(time.nanos / 1_000_000);
  if (ms <= nowMs) violations.add("previousSecretExpireTime", "is not in the future");
  if (ms > nowMs + previousSecretDaysMax * dayMs) {
    const problem = `must be at most ${previousSecretDaysMax} days from now`;
    violations.add("previousSecretExpireTime", problem);
  }
  violations.throwIfAny();
  return new Date(ms);
}

/** Prevents a key with limits from taking over a key whose limits are higher. */
function refuseHigherLimits(limits: Readonly<Record<string, number>>, own: KeyLimits): void {
  for (const name of keyLimitNames) {
    const [theirs, max] = [limits[name] ?? 0, own[name]];
    if (max === 0 || (theirs !== 0 && theirs <= max)) continue;
    throw new ServiceError(
      "permission_denied",
      `the key has a higher limit of ${name} than the key used for this call, which has ${max}`,
      { reason: "LIMITS_HIGHER", metadata: { limit: name, max: `${max}` } },
    );
  }
}
