import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "../database/tables.ts";
import { scopes, scopesOfMember, type Credential, type Role, type Scope } from "./caller.ts";
import { idleMsMax } from "./session-store.ts";

/**
 * Returns the current scopes of a credential, or undefined if it was revoked, has expired, or
 * belongs to a disabled account.
 */
export type ScopesNow = (credential: Credential) => ReadonlySet<Scope> | undefined;

/** Reads the current scopes of credentials, with one statement for all of them. */
export async function readScopesNow(
  db: Kysely<Tables>,
  credentials: readonly Credential[],
): Promise<ScopesNow> {
  const kinds = [...new Set(credentials.map(({ kind }) => kind))];
  const selects = kinds.map((kind) => {
    const ids = credentials.filter((each) => each.kind === kind).map(({ id }) => id);
    return sql`select ${kind} as kind, live.* from (${liveOf[kind](ids)}) live`;
  });
  const { rows } = await sql<Row>`${sql.join(selects, sql` union all `)}`.execute(db);
  const found = new Map(rows.map((row) => [`${row.kind}/${row.id}`, scopesOf(row)]));
  return ({ kind, id }) => found.get(`${kind}/${id}`);
}

interface Row extends Credential {
  readonly role: Role | null;
  readonly is_operator: boolean | null;
  /** null for members, because their scopes follow from their role and is_operator. */
  readonly held: readonly string[] | null;
}

function scopesOf({ role, is_operator: isOperator, held }: Row): ReadonlySet<Scope> {
  if (role !== null) return scopesOfMember(role, isOperator === true);
  return new Set(scopes.filter((scope) => held?.includes(scope)));
}

/**
 * For each kind of credential, the statement that selects the valid credentials among the given
 * ids.
 */
const liveOf: Readonly<Record<Credential["kind"], (ids: readonly string[]) => RawBuilder<Row>>> = {
  api_key: (ids) => liveKeys("api_key", ids),
  client_key: (ids) => liveKeys("client_key", ids),
  session: (ids) => sql`
    select s.id, m.role, m.is_operator, k.scopes as held
    from session s join account a on a.id = s.account_id
      left join member m on m.id = s.member_id left join api_key k on k.id = s.api_key_id
    where s.id = any(${ids}::uuid[]) and s.expires_at > now()
      and s.last_used_at > now() - make_interval(secs => ${idleMsMax / 1000})
      and (k.expires_at is null or k.expires_at > now()) and a.disabled_at is null`,
};

function liveKeys(table: "api_key" | "client_key", ids: readonly string[]): RawBuilder<Row> {
  return sql`
    select k.id, null as role, null::boolean as is_operator, k.scopes as held
    from ${sql.table(table)} k join account a on a.id = k.account_id
    where k.id = any(${ids}::uuid[]) and (k.expires_at is null or k.expires_at > now())
      and a.disabled_at is null`;
}
