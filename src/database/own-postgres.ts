import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { errorFields, type Log } from "../std/log.ts";
import { launchServer, prepareFolder, serverTrouble, type Launch } from "./server-launch.ts";
import { chooseServerPrograms, type ServerPrograms } from "./server-programs.ts";
import { stopServer } from "./server-stop.ts";

/**
 * A PostgreSQL server that belongs to a folder, and that is kept running while this object is open.
 */
export interface OwnPostgres extends AsyncDisposable {
  readonly connection: ServerConnection;
}

export interface ServerConnection {
  readonly host: string;
  readonly user: string;
  readonly database: string;
}

export interface OwnPostgresOptions {
  /** The folder in which the server stores all its data. Nothing else may write there. */
  readonly folder: string;
  readonly log: Log;
  /** false, for tests only: the server confirms commits before the data is on disk. */
  readonly durable?: boolean;
}

/** The major version of the packaged server, which is also the name of its data folder. */
const majorVersion = "18";
/**
 * The time after which, at startup, a server that neither answers nor reports that it is starting
 * counts as failed.
 */
const awayMsMax = 120_000;
/** The number of times that a server that exits by itself is restarted before the start fails. */
const failuresMax = 3;
/**
 * The wait between two launches. The folder may still be locked by the remaining processes of a
 * killed server, or by another process that is starting one.
 */
const launchEveryMs = 250;
const noteEveryMs = 10_000;
/** The wait between two attempts to restart a server that does not start. */
const reviveEveryMs = 5_000;
const attachToStopMsMax = 3_000;
/**
 * The advisory lock that every process that uses the server holds in shared mode. The holder of the
 * exclusive lock may stop the server.
 */
const inUseLock = 4_750_411;

/**
 * Opens the folder's own PostgreSQL. It attaches to a running server, which outlives a kill -9 of
 * the service; otherwise it creates and starts one. It restarts a server that dies. Several
 * processes may have it open, and the last one to close it stops the server. Rejects with a message
 * for the operator if no server can be started.
 */
export async function openOwnPostgres(options: OwnPostgresOptions): Promise<OwnPostgres> {
  await prepareFolder(options.folder, majorVersion);
  const server = new OwnServer(options);
  try {
    await server.reach();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

type Answer = "attached" | "starting" | "away";

class OwnServer implements OwnPostgres {
  readonly #options: OwnPostgresOptions;
  readonly #cluster: string;
  readonly #closing = new AbortController();
  /**
   * The open data folder, through which sockets are reached regardless of the length of its path: a
   * socket path may have at most 107 bytes.
   */
  #directory: FileHandle | undefined;
  /**
   * The connection that holds the in-use lock, and that is the first to notice when the server
   * stops.
   */
  #tether: pg.Client | undefined;
  #programs: ServerPrograms | undefined;
  #reviving: Promise<void> | undefined;

  constructor(options: OwnPostgresOptions) {
    this.#options = options;
    this.#cluster = join(options.folder, majorVersion);
  }

  get connection(): ServerConnection {
    return {
      host: `/proc/self/fd/${this.#directory?.fd ?? -1}`,
      user: "hlust",
      database: "postgres",
    };
  }

  /** Resolves when the server has answered; rejects if the server cannot be started. */
  async reach(): Promise<void> {
    const { folder, log } = this.#options;
    const { signal } = this.#closing;
    const since = Date.now();
    let launch: Launch | undefined;
    let [failures, nextLaunchAt, nextNoteAt] = [0, since, since + noteEveryMs];
    for (;;) {
      signal.throwIfAborted();
      const answer = await this.#attach();
      if (answer === "attached") return;
      if (launch?.status !== undefined) {
        if (launch.status !== "taken") failures += 1;
        if (failures >= failuresMax) {
          throw await serverTrouble(folder, "it exits as soon as it is started");
        }
        launch = undefined;
        nextLaunchAt = Date.now() + launchEveryMs;
      }
      if (answer === "away" && !launch && Date.now() >= nextLaunchAt) {
        this.#programs ??= await chooseServerPrograms(folder, log);
        launch = await launchServer(this.#programs, { ...this.#options, majorVersion });
      }
      if (answer === "away" && Date.now() - since > awayMsMax) {
        throw await serverTrouble(folder, "it runs and does not answer");
      }
      if (Date.now() > nextNoteAt) {
        nextNoteAt += noteEveryMs;
        log.info({ answer, waitedMs: Date.now() - since }, "database.waiting");
      }
      await sleep(Date.now() - since < 2_000 ? 20 : 250, undefined, { signal });
    }
  }

  /**
   * Attaches to the server by a query, because only an answer to a query proves that the server
   * runs: pid files and open sockets outlive it.
   */
  async #attach(): Promise<Answer> {
    try {
      this.#directory ??= await open(this.#cluster, constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return "away";
      throw await serverTrouble(this.#options.folder, String(error));
    }
    const client = new pg.Client({
      ...this.connection,
      application_name: "hlust in use",
      connectionTimeoutMillis: 5_000,
    });
    client.on("error", () => {}); // "end" follows, or the query rejects
    try {
      await client.connect();
      // A server that replays archived WAL (docs/operations/backup.md) answers, but only reads.
      const { rows } = await client.query<{ replays: boolean }>(
        "select pg_is_in_recovery() as replays",
      );
      if (rows[0]?.replays) {
        await client.end();
        return "starting";
      }
      await client.query("select pg_advisory_lock_shared($1)", [inUseLock]);
    } catch (error) {
      await client.end().catch(() => {});
      const code = codeOf(error);
      if (code === "57P03") return "starting";
      if (/^(28|3D|42)/.test(code)) {
        throw await serverTrouble(this.#options.folder, `it refuses: ${String(error)}`);
      }
      return "away";
    }
    this.#tether = client;
    client.once("end", () => this.#lost(client));
    return "attached";
  }

  #lost(client: pg.Client): void {
    if (this.#tether !== client) return;
    this.#tether = undefined;
    if (this.#closing.signal.aborted) return;
    this.#options.log.error({}, "database.lost");
    this.#reviving ??= this.#revive().finally(() => {
      this.#reviving = undefined;
    });
  }

  async #revive(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.reach();
        log.info({}, "database.back");
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.error(errorFields(error), "database.not_back");
        await sleep(reviveEveryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isReviving = this.#reviving !== undefined;
    this.#closing.abort();
    await this.#reviving;
    if (isReviving) await this.#attachToStop();
    const tether = this.#tether;
    this.#tether = undefined;
    try {
      if (tether && (await isLastUser(tether))) {
        await stopServer(this.#options.folder, this.#cluster, this.#options.log);
      }
    } catch (error) {
      this.#options.log.warn(errorFields(error), "database.not_stopped");
    } finally {
      await tether?.end().catch(() => {});
      await this.#directory?.close();
      this.#directory = undefined;
    }
  }

  /**
   * Attaches to the server in order to stop it: without this, a server that is being restarted
   * would keep running.
   */
  async #attachToStop(): Promise<void> {
    const giveUpAt = Date.now() + attachToStopMsMax;
    while (!this.#tether && Date.now() < giveUpAt) {
      if ((await this.#attach().catch(() => "away")) === "attached") return;
      await sleep(50);
    }
  }
}

/**
 * Exchanges the shared lock for the exclusive one, so that the next process waits until this server
 * has stopped. Returns whether no other process uses the server.
 */
async function isLastUser(tether: pg.Client): Promise<boolean> {
  await tether.query("select pg_advisory_unlock_shared($1)", [inUseLock]);
  const { rows } = await tether.query<{ alone: boolean }>(
    "select pg_try_advisory_lock($1) as alone",
    [inUseLock],
  );
  return rows[0]?.alone === true;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
