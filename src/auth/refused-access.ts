import type { DescMethod } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { logAct, recordAct, type Act, type Actor } from "./audit-log.ts";

/** Keeps in the audit log that a caller lacked the scope of a method. */
export type NoteRefusedAccess = (actor: Actor, method: DescMethod, scope: string) => void;

/** Of one actor and method, one refusal in this time is enough. */
const againMs = 60_000;
/** Pairs of actor and method in that time; what comes beyond is not kept. */
const pairsMax = 2_000;

/**
 * Nobody waits for it, it takes one connection at a time, and a call does not fail by it. Each node
 * keeps at most one refusal a minute of an actor and a method.
 */
export function createRefusedAccess(parts: {
  readonly db: Kysely<Tables>;
  readonly now: () => number;
  readonly log: Log;
}): NoteRefusedAccess {
  const { db, now, log } = parts;
  /** When each pair was last kept, the oldest first. */
  const kept = new Map<string, number>();
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
    if (!isDue(kept, `${actor.actor} ${name}`, now())) return;
    const details = { method: name, scope };
    const act: Act = { action: "access.refused", resource: "", outcome: "REFUSED", details };
    writing = writing.then(async () => await write(actor, act));
  };
}

/**
 * Whether a refusal is to be kept: the first of a name in a minute, of so many names. `kept` has
 * when each was last kept.
 */
export function isDue(kept: Map<string, number>, pair: string, now: number): boolean {
  for (const [old, at] of kept) {
    if (Math.abs(now - at) < againMs) break;
    kept.delete(old);
  }
  if (kept.has(pair) || kept.size >= pairsMax) return false;
  kept.set(pair, now);
  return true;
}
