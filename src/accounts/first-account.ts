import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { sql, type Kysely } from "kysely";
import { newApiKey } from "../auth/api-key.ts";
import { scopes } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";

export interface FirstKey {
  /** The whole API key. */
  readonly secret: string;
  /** The file with the key, readable only by the service's user. */
  readonly file: string;
  readonly owner: { readonly accountId: string; readonly apiKeyId: string };
}

/**
 * The advisory lock that nodes hold while they check for an account, since several nodes may start
 * concurrently.
 */
const firstAccountLock = 4_750_412;

/**
 * Creates the first account if none exists, with an API key of every scope, `operator` included, in
 * `<dataFolder>/api-key` (docs/api.md, Access). Returns undefined if an account exists. The file is
 * on disk before the account is committed. A crash in between leaves a key without an account,
 * which the next start replaces, but never an account without a readable key.
 */
export async function ensureFirstAccount(parts: {
  readonly db: Kysely<Tables>;
  readonly dataFolder: string;
  readonly log: Log;
}): Promise<FirstKey | undefined> {
  const { db, dataFolder, log } = parts;
  const made = await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${firstAccountLock})`.execute(transaction);
    const account = await transaction.selectFrom("account").select("id").limit(1).execute();
    if (account.length > 0) return undefined;
    const accountId = newId();
    const key = newApiKey();
    await transaction
      .insertInto("account")
      .values({ id: accountId, display_name: "First account" })
      .execute();
    await transaction
      .insertInto("api_key")
      .values({
        id: key.id,
        account_id: accountId,
        display_name: "First key",
        scopes: [...scopes],
        secret_hash: key.secretHash,
      })
      .execute();
    const file = await writeKey(dataFolder, key.token);
    return { accountId, keyId: key.id, secret: key.token, file };
  });
  if (!made) return undefined;
  const { secret, ...facts } = made;
  log.info(facts, "account.first_made");
  const { file, accountId, keyId: apiKeyId } = made;
  return { secret, file, owner: { accountId, apiKeyId } };
}

/** Replaces the file atomically. */
async function writeKey(folder: string, token: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "api-key");
  const unfinished = `${file}.${newId()}`;
  {
    await using handle = await open(unfinished, "wx", 0o600);
    await handle.writeFile(`${token}\n`);
    await handle.sync();
  }
  await rename(unfinished, file);
  await using directory = await open(folder, "r");
  await directory.sync();
  return file;
}
