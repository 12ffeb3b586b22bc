import { setTimeout as sleep } from "node:timers/promises";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { errorFields, type Log } from "../std/log.ts";
import { unlessAborted } from "../std/until-aborted.ts";
import { checkDatabase } from "./check-database.ts";
import { databaseTrouble } from "./database-trouble.ts";
import { migrate } from "./migrate.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { refuseWritesWhenFull } from "./refuse-writes-when-full.ts";
import type { Tables } from "./tables.ts";

export { databaseTrouble } from "./database-trouble.ts";

/** The open database: migrated, checked, and back by itself after its server was away. */
export interface Database extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** What db runs on, for parts that bring their own SQL (the job queue). */
  readonly pool: pg.Pool;
  /** Resolves when the database answers; rejects otherwise. */
  ping(): Promise<void>;
}

export interface DatabaseOptions {
  /** postgres://...; undefined: the service's own PostgreSQL. */
  readonly url: string | undefined;
  /** Where the service's own PostgreSQL keeps everything; nothing else may write there. Not used with a url. */
  readonly folder: string;
  readonly log: Log;
  /** false, for tests only: the own server answers before its data is on the disk. */
  readonly durable?: boolean;
  /** Gives up waiting for a database that is away. */
  readonly signal?: AbortSignal;
}

/** A query that takes longer is given up: no method needs as long. */
const statementMsMax = 30_000;
/** Longest that a caller waits for a connection before it is told to come again. */
const connectMsMax = 5_000;
/** Connections of one node; the own server gives 60, PostgreSQL's default is 100. */
const connectionsMax = 20;
const closeMsMax = 5_000;
/** How long a database given by url may be away at start. */
const awayAtStartMsMax = 30_000;

/** Opens the database; rejects with a sentence for the operator when it cannot be used. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, folder, log, durable = true } = options;
  await using opened = new AsyncDisposableStack();
  const connection =
    url === undefined
      ? opened.use(await openOwnPostgres({ folder, log, durable })).connection
      : { connectionString: url, keepAlive: true };
  const pool = new pg.Pool({
    ...connection,
    application_name: "hlust",
    max: connectionsMax,
    connectionTimeoutMillis: connectMsMax,
    statement_timeout: statementMsMax,
    // The server gives up first; this is for a server that no longer answers at all.
    query_timeout: statementMsMax + 5_000,
    idle_in_transaction_session_timeout: statementMsMax * 2,
  });
  pool.on("error", (error) => log.warn(errorFields(error), "database.connection_lost"));
  // The pool listens to idle connections only; one that breaks in use fails its query and then tells again, here.
  pool.on("connect", (client) => {
    client.on("error", (error) => log.debug(errorFields(error), "database.connection_broken"));
  });
  // Queries that go on are waited for, but not longer than a stop may take.
  opened.defer(() => Promise.race([pool.end(), sleep(closeMsMax, undefined, { ref: false })]));

  await waitForAnswer(pool, options);
  await checkDatabase(pool, { durable });
  await migrate({ ...connection, application_name: "hlust migrate" }, log);

  const parts = opened.move();
  return {
    db: new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      plugins: url === undefined ? [refuseWritesWhenFull(folder)] : [],
    }),
    pool,
    ping: () => ping(pool),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function ping(pool: pg.Pool): Promise<void> {
  await pool.query("select 1");
}

/** A database given by url may be started together with the service; the own server has answered already. */
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
