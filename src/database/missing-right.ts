import { type Kysely, sql } from "kysely";

/**
 * Returns a message for the operator if a role may not change the schema; undefined for any other
 * error.
 */
export async function missingRight(
  db: Kysely<unknown>,
  error: unknown,
): Promise<Error | undefined> {
  const isRefused = error instanceof Error && "code" in error && error.code === "42501";
  if (!isRefused) return undefined;
  const { rows } = await sql<{ role: string; database: string }>`
    select quote_ident(current_user) as role, quote_ident(current_database()) as database`.execute(
    db,
  );
  const { role = "", database = "" } = rows[0] ?? {};
  return new Error(
    `the schema of the database has to be changed, but the role ${role} is not allowed to do it (${error.message}). Run ` +
      `\`hlust migrate\` with a role that may, or let the database's owner run: grant create on database ${database} to ${role}; ` +
      `grant create on schema public to ${role}`,
    { cause: error },
  );
}
