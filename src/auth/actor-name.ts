import { sql, type RawBuilder } from "kysely";

/**
 * Returns an SQL expression for the present display name of an actor (Caller.actor), given the
 * column that has it. The name is "" for no actor, and after the member or the key was deleted: it
 * is stored only where the account manages it, so that a deletion removes it everywhere.
 */
export function actorName(column: string): RawBuilder<string> {
  const actor = sql.ref(column);
  const id = sql`split_part(${actor}, '/', 2)::uuid`;
  return sql<string>`coalesce(case split_part(${actor}, '/', 1)
    when 'members' then (select display_name from member where id = ${id})
    when 'apiKeys' then (select display_name from api_key where id = ${id})
    when 'clientKeys' then (select display_name from client_key where id = ${id})
  end, '')`;
}
