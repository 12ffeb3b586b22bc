import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import type { Caller } from "./caller.ts";

/** Something that was done about access or to recordings, for the audit log of its account. */
export interface Act {
  /** <what>.<verb>, for example `api_key.create`. */
  readonly action: string;
  /** The name of what it was done to, for example `apiKeys/<id>`; "" where nothing has one. */
  readonly resource: string;
  /** Default OK. */
  readonly outcome?: "OK" | "REFUSED";
  /** Short facts about it; no secrets. They are in the audit log alone. */
  readonly details?: Readonly<Record<string, string>>;
}

/** Who did it, in which account. */
export type Actor = Pick<Caller, "accountId" | "actor" | "origin">;

/** Whoever runs the command line, acting on an account. */
export function operatorOf(accountId: string): Actor {
  return { accountId, actor: "operator", origin: { address: "", requestId: "" } };
}

/**
 * Runs `work` in a transaction and keeps what it records in the audit log in the same commit, so
 * that neither is there without the other; then the service's log tells it, too.
 */
export async function audited<T>(
  { db, log }: { readonly db: Kysely<Tables>; readonly log: Log },
  actor: Actor,
  work: (trx: Transaction<Tables>, record: (act: Act) => Promise<void>) => Promise<T>,
): Promise<T> {
  const acts: Act[] = [];
  const result = await db.transaction().execute(async (trx) => {
    return await work(trx, async (act) => {
      await recordAct(trx, actor, act);
      acts.push(act);
    });
  });
  for (const act of acts) logAct(log, actor, act);
  return result;
}

/**
 * Writes an act to the audit log, which only grows: no row is ever changed or deleted. In the
 * transaction of the act itself, which then tells logAct(); audited() does both.
 */
export async function recordAct(
  db: Kysely<Tables>,
  { accountId, actor, origin }: Actor,
  { action, resource, outcome = "OK", details = {} }: Act,
): Promise<void> {
  await db
    .insertInto("audit_event")
    .values({
      id: newId(),
      account_id: accountId,
      actor,
      action,
      resource,
      outcome,
      address: origin.address,
      request_id: origin.requestId,
      details: JSON.stringify(details),
    })
    .execute();
}

/** One line of JSON for one act, whatever characters are in it. */
export function logAct(
  log: Log,
  { accountId, actor, origin }: Actor,
  { action, resource, outcome = "OK" }: Act,
): void {
  log.info({ accountId, actor, action, resource, outcome, ...origin }, "audit");
}
