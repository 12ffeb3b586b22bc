import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/**
 * Returns the 32 random bytes with which all nodes sign or encrypt. They are created by the first
 * node that needs them.
 */
export async function signingKey(
  db: Kysely<Tables>,
  name: "signed-url" | "page-token" | "link-request",
): Promise<Buffer> {
  await db
    .insertInto("signing_key")
    .values({ name, secret: randomBytes(32) })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const { secret } = await db
    .selectFrom("signing_key")
    .select("secret")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return secret;
}
