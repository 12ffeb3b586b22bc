import type { DescMethod } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { logAct, recordAct, type Act, type Actor } from "./audit-log.ts";

/** Records in the audit log that a caller lacked the scope of a method. */
export type NoteRefusedAccess = (actor: Actor, method: DescMethod, scope: string) => void;

/** Within this time, at most one refusal per actor and method is recorded. */
const againMs = 60_000;
/** The maximum number of actor-method pairs that are recorded within that time. */
const pairsMax = 2_000;

/**
 * Creates the function that records refusals. Calls do not wait for the function, and do not fail
 * if it fails. It uses one connection at a time. Each node records at most one refusal per minute
 * for an actor and a method.
 */
export function createRefusedAccess(parts: {
  readonly db: Kysely<Tables>;
  readonly now: () => number;
  readonly log: Log;
}): NoteRefusedAccess {
  const { db, now, log } = parts;
  /** The time at which each pair was last recorded, in order of time. */
  const recorded = new Map<string, number>();
  let writing = Promise.resolve();
  const write = async (actor: Actor, act: Act): Promise<void> => {
    try {
      await recordAct(db, actor, act);
      logAct(log, actor, act);
    } catch (error) {
      log.warn(errorFields(error), "auth.refusal_not_kept");
    }
  };
  return (actor, method, scope) => {
    const name = `${method.parent.typeName}.${method.name}`;
    if (!isDue(recorded, `${actor.actor} ${name}`, now())) return;
    const details = { method: name, scope };
    const act: Act = { action: "access.refused", resource: "", outcome: "REFUSED", details };
    writing = writing.then(async () => await write(actor, act));
  };
}

/**
 * Returns whether to record a refusal: only the first of a pair in a minute, for up to pairsMax
 * pairs. `recorded` has the time at which each pair was last recorded. It is not an LRU cache: if
 * it is full, it must refuse new pairs rather than forget old ones.
 */
export function isDue(recorded: Map<string, number>, pair: string, now: number): boolean {
  for (const [old, at] of recorded) {
    if (Math.abs(now - at) < againMs) break;
    recorded.delete(old);
  }
  if (recorded.has(pair) || recorded.size >= pairsMax) return false;
  recorded.set(pair, now);
  return true;
}
