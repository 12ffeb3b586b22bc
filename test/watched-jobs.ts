import assert from "node:assert/strict";
import { Kysely, PostgresDialect } from "kysely";
import type { Database } from "../src/database/database.ts";
import type { Tables } from "../src/database/tables.ts";
import { newId } from "../src/std/ids.ts";
import { ServiceError } from "../src/std/service-error.ts";
import { openTestDatabase } from "./open-test-database.ts";

/** Jobs of an account in a database of their own, to be watched. */
export interface WatchedJobs extends AsyncDisposable {
  readonly database: Database & { readonly folder: string };
  readonly account: string;
  /** The database with its statements counted. */
  readonly counted: Kysely<Tables>;
  /** Of `counted`. */
  statements(): number;
  addAccount(): Promise<string>;
  /** Its id; default: of `account`. */
  addJob(accountId?: string): Promise<string>;
  /** Sets columns of these jobs, in SQL. */
  change(ids: readonly string[], set: string): Promise<void>;
}

export async function openWatchedJobs(): Promise<WatchedJobs> {
  const database = await openTestDatabase();
  const addAccount = async () => {
    const id = newId();
    await database.db.insertInto("account").values({ id, display_name: "test" }).execute();
    return id;
  };
  const account = await addAccount();
  let statements = 0;
  return {
    database,
    account,
    counted: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: database.pool }),
      log: () => {
        statements++;
      },
    }),
    statements: () => statements,
    addAccount,
    async addJob(accountId = account) {
      const id = newId();
      await database.pool.query(
        `insert into transcript_job (id, account_id, state, metadata) values ($1, $2, 'PROCESSING', '{}')`,
        [id, accountId],
      );
      return id;
    },
    async change(ids, set) {
      await database.pool.query(`update transcript_job set ${set} where id = any($1)`, [ids]);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** The signal of a caller that stays; each has its own. */
export const forever = (): AbortSignal => new AbortController().signal;

/** What a call is refused with. */
export async function refusal(promise: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, String(error));
  return error;
}
