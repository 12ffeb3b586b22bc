import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import type { Caller } from "./caller.ts";

/** An action that concerns access or recordings, for the audit log of its account. */
export interface Act {
  /** <what>.<verb>, for example `api_key.create`. */
  readonly action: string;
  /** The resource that the action changed, for example `apiKeys/<id>`; "" if there is none. */
  readonly resource: string;
  /** Default OK. */
  readonly outcome?: "OK" | "REFUSED";
  /** Short facts about the action, without secrets. They are stored only in the audit log. */
  readonly details?: Readonly<Record<string, string>>;
}

/** The actor of an action, with its account and origin. */
export type Actor = Pick<Caller, "accountId" | "actor" | "origin">;

/** Returns the actor for the user of the command line who acts on an account. */
export function operatorOf(accountId: string): Actor {
  return { accountId, actor: "operator", origin: { address: "", requestId: "" } };
}

/**
 * Runs `work` in a transaction and writes the acts that it records to the audit log in the same
 * commit, so that neither exists without the other. Then writes the acts to the service's log.
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
 * Writes an act to the audit log, which is append-only. Call it in the transaction of the act
 * itself, and logAct() after the commit; audited() does both.
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

/** Writes one line of JSON per act, whatever characters it contains. */
export function logAct(
  log: Log,
  { accountId, actor, origin }: Actor,
  { action, resource, outcome = "OK" }: Act,
): void {
  log.info({ accountId, actor, action, resource, outcome, ...origin }, "audit");
}
