import { setTimeout as sleep } from "node:timers/promises";
import { Kysely } from "kysely";
import type pg from "pg";
import { errorFields, type Log } from "../std/log.ts";
import { unlessAborted } from "../std/until-aborted.ts";
import { BoundedDialect } from "./bounded-dialect.ts";
import { checkDatabase } from "./check-database.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { databaseTrouble } from "./database-trouble.ts";
import { migrate, missingMigrations } from "./migrate.ts";
import { OlderSchemaError } from "./older-schema-error.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { refuseWritesWhenFull } from "./refuse-writes-when-full.ts";
import type { Tables } from "./tables.ts";

export { databaseTrouble } from "./database-trouble.ts";

/** The open database: migrated, checked, and reconnecting by itself. */
export interface Database extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** The pool of `db`, for plain SQL. */
  readonly pool: pg.Pool;
  /** The migrations that were applied when it was opened. */
  readonly migrated: readonly string[];
  /** Resolves when the database answers; rejects otherwise. */
  ping(): Promise<void>;
}

export interface DatabaseOptions {
  /** postgres://...; undefined: the service's own PostgreSQL. */
  readonly url: string | undefined;
  /**
   * Where the service's own PostgreSQL keeps everything; nothing else may write there. Not used
   * with a url.
   */
  readonly folder: string;
  readonly log: Log;
  /** migrate (the default): bring an older schema to that of this code. check: refuse it. */
  readonly schema?: "migrate" | "check";
  /** The maximum number of connections of this node. */
  readonly connectionsMax?: number;
  /** How long a call waits for one of them before it fails as unavailable. */
  readonly waitMsMax?: number;
  /**
   * A statement that takes longer is cancelled: no method needs that long. Other values are for
   * tests.
   */
  readonly statementMsMax?: number;
  /** false, for tests only: the service's own server answers before its data is on the disk. */
  readonly durable?: boolean;
  /** Aborts the wait for an unavailable database, and for a migration of another node. */
  readonly signal?: AbortSignal;
}

const defaults = { connectionsMax: 20, waitMsMax: 5_000, statementMsMax: 30_000 } as const;
const closeMsMax = 5_000;
/** How long a database given by url may be unavailable at start. */
const awayAtStartMsMax = 30_000;

/** Opens the database; rejects with a sentence for the operator when it cannot be used. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, folder, log, signal, durable = true, schema = "migrate" } = options;
  await using opened = new AsyncDisposableStack();
  const connection =
    url === undefined
      ? opened.use(await openOwnPostgres({ folder, log, durable })).connection
      : { connectionString: url, keepAlive: true };
  const pool = new ConnectionPool({ ...defaults, ...options, connection });
  // Queries in progress are waited for, but not longer than a shutdown may take.
  opened.defer(() => Promise.race([pool.end(), sleep(closeMsMax, undefined, { ref: false })]));

  await waitForAnswer(pool, options);
  await pool.checkLimits();
  const db = new Kysely<Tables>({
    dialect: new BoundedDialect(pool),
    plugins: url === undefined ? [refuseWritesWhenFull(folder)] : [],
  });
  const isMade = schema === "migrate";
  // With the node's own connection: most starts find nothing missing, take no lock, and need no
  // right to change anything.
  const missing = await missingMigrations(new Kysely({ dialect: new BoundedDialect(pool) }));
  if (!isMade && missing.length > 0) throw new OlderSchemaError(missing);
  await checkDatabase(pool, { durable, makesExtension: isMade });
  const migrated = missing.length > 0 ? await migrate(connection, log, { signal }) : [];

  const parts = opened.move();
  return {
    db,
    pool,
    migrated,
    ping: () => ping(pool),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function ping(pool: pg.Pool): Promise<void> {
  await pool.query("select 1");
}

/**
 * A database given by url may be starting with the service; the own server has answered already.
 */
async function waitForAnswer(pool: pg.Pool, { url, log, signal }: DatabaseOptions): Promise<void> {
  const giveUpAt = Date.now() + (url === undefined ? 0 : awayAtStartMsMax);
  for (;;) {
    try {
      return await (signal ? unlessAborted(ping(pool), signal) : ping(pool));
    } catch (error) {
      signal?.throwIfAborted();
      if (!databaseTrouble(error) || Date.now() >= giveUpAt) {
        const which =
          url === undefined ? "the service's own database" : "the database of DATABASE_URL";
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`${which} does not answer: ${why}`, { cause: error });
      }
      log.info(errorFields(error), "database.waiting");
      await sleep(500, undefined, signal && { signal });
    }
  }
}
