import { setTimeout as sleep } from "node:timers/promises";
import { Kysely } from "kysely";
import pg from "pg";
import type { PoolRecorder } from "../metrics/recorders.ts";
import { errorFields, type Log } from "../std/log.ts";
import { unlessAborted } from "../std/until-aborted.ts";
import { isTracing } from "../tracing/tracing.ts";
import { BoundedDialect } from "./bounded-dialect.ts";
import { checkDatabase } from "./check-database.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { databaseTrouble } from "./database-trouble.ts";
import { migrate, migrations } from "./migrate.ts";
import { OlderSchemaError } from "./older-schema-error.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { refuseWritesWhenFull } from "./refuse-writes-when-full.ts";
import { readSchema } from "./schema-state.ts";
import type { Tables } from "./tables.ts";
import { traceStatement } from "./trace-statements.ts";

export { databaseTrouble } from "./database-trouble.ts";

/** An open database that is migrated and checked, and that reconnects automatically. */
export interface Database extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** The pool of `db`, for plain SQL. */
  readonly pool: pg.Pool;
  /** The migrations that were applied when the database was opened. */
  readonly migrated: readonly string[];
  /** Returns the connections of the node, and the number of calls that wait for one. */
  use(): ConnectionPool["use"];
  /** Resolves when the database answers; rejects otherwise. */
  ping(): Promise<void>;
  /**
   * Opens a connection of its own without limits of time, for statements that take as long as the
   * data requires. The caller ends it.
   */
  readonly connect: (applicationName: string) => Promise<pg.Client>;
}

export interface DatabaseOptions {
  /** The URL, postgres://...; undefined for the service's own PostgreSQL. */
  readonly url: string | undefined;
  /**
   * The folder in which the service's own PostgreSQL stores all its data; nothing else may write
   * there. It is not used if there is a URL.
   */
  readonly folder: string;
  readonly log: Log;
  /**
   * migrate (the default): upgrades an older schema to that of this code. check: refuses an older
   * schema.
   */
  readonly schema?: "migrate" | "check";
  /** The maximum number of connections of this node. */
  readonly connectionsMax?: number;
  /** How long a call waits for a connection before it fails as unavailable. */
  readonly waitMsMax?: number;
  /**
   * The maximum time of a statement, after which it is cancelled; no method needs that long. Values
   * other than the default are for tests.
   */
  readonly statementMsMax?: number;
  /**
   * false, for tests only: the service's own server confirms commits before the data is on disk.
   */
  readonly durable?: boolean;
  /** Records how long calls wait for a connection, for the metrics of the node. */
  readonly recorder?: PoolRecorder | undefined;
  /** Aborts the wait for an unavailable database or for another node's migration. */
  readonly signal?: AbortSignal;
}

const defaults = { connectionsMax: 20, waitMsMax: 5_000, statementMsMax: 30_000 } as const;
const closeMsMax = 5_000;
/** The maximum time for which a database with a URL may be unavailable at startup. */
const awayAtStartMsMax = 30_000;

/** Opens the database. Rejects with a message for the operator if the database cannot be used. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, folder, log, signal, durable = true, schema = "migrate" } = options;
  await using opened = new AsyncDisposableStack();
  const connection =
    url === undefined
      ? opened.use(await openOwnPostgres({ folder, log, durable })).connection
      : { connectionString: url, keepAlive: true };
  const pool = new ConnectionPool({ ...defaults, ...options, connection });
  // Closing waits for queries in progress, but not longer than a shutdown may take.
  opened.defer(() => Promise.race([pool.end(), sleep(closeMsMax, undefined, { ref: false })]));

  await waitForAnswer(pool, options);
  await pool.checkLimits();
  const db = new Kysely<Tables>({
    dialect: new BoundedDialect(pool),
    plugins: url === undefined ? [refuseWritesWhenFull(folder)] : [],
    ...(isTracing() && { log: traceStatement }),
  });
  const isMade = schema === "migrate";
  // The check uses the node's own connection: most starts find no missing migrations, take no lock,
  // and need no right to change anything.
  const plain = new Kysely<unknown>({ dialect: new BoundedDialect(pool) });
  const { missing, newer } = await readSchema(plain, migrations);
  if (newer.length > 0) log.info({ migrations: newer }, "database.newer_schema");
  if (!isMade && missing.length > 0) throw new OlderSchemaError(missing);
  await checkDatabase(pool, { durable, makesExtension: isMade });
  const migrated = missing.length > 0 ? await migrate(connection, log, { signal }) : [];

  const parts = opened.move();
  return {
    db,
    pool,
    migrated,
    use: () => pool.use,
    ping: () => ping(pool),
    connect: async (applicationName) => await connect({ ...connection, applicationName }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Opens a connection, which may take as long for a statement as the data requires. */
export async function connect({
  applicationName,
  ...connection
}: pg.ClientConfig & { readonly applicationName: string }): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, application_name: applicationName });
  client.on("error", () => {}); // the query in progress fails with it
  await client.connect();
  return client;
}

async function ping(pool: pg.Pool): Promise<void> {
  await pool.query("select 1");
}

/**
 * Waits until the database answers. A database with a URL may be starting together with the
 * service; the service's own server has already answered.
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
