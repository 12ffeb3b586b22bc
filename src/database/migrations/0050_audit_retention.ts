import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Lets the audit log be deleted by age. A transaction that has set `hlust.audit_days` may delete
 * events that are older than this number of days, which is at least 30; all other changes are
 * refused as before. So no call of the service can remove traces of what was done lately.
 *
 * Reads all events once for an index: about a second for a million.
 */
export const auditRetention: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { audit_event: "writes" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create index audit_event_at on audit_event (at)`,
  `create or replace function refuse_change_of_audit() returns trigger language plpgsql as $$
     declare
       days int := nullif(current_setting('hlust.audit_days', true), '')::int;
     begin
       if tg_op = 'DELETE' and days is not null
         and old.at < now() - make_interval(days => greatest(days, 30)) then
         return old;
       end if;
       raise exception 'the audit log only grows';
     end $$`,
];
