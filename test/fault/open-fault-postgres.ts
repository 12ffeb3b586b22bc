import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { openOwnPostgres } from "../../src/database/own-postgres.ts";
import { chooseServerPrograms } from "../../src/database/server-programs.ts";
import { createLog } from "../../src/std/log.ts";
import { killAll } from "../fixtures/own-postgres-fixture.ts";
import { until } from "../fixtures/until.ts";

/**
 * A PostgreSQL server for a test, set up as by an operator: nodes get its DATABASE_URL, and none of
 * them restarts it.
 */
export interface FaultPostgres extends AsyncDisposable {
  readonly url: string;
  /** Kills the whole server (kill -9). */
  kill(): Promise<void>;
  /** Starts the server; resolves when it responds. */
  start(): Promise<void>;
  query(sql: string): Promise<Record<string, unknown>[]>;
}

/** Creates a server in a folder and starts it; `environment` is the server's environment. */
export async function openFaultPostgres(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<FaultPostgres> {
  const log = createLog("silent");
  // The service has initialized this folder and stopped using it.
  await (await openOwnPostgres({ folder, log }))[Symbol.asyncDispose]();
  const { programs, user } = await chooseServerPrograms(folder, log);
  const cluster = join(folder, "18");
  const url = `postgres://hlust@/postgres?host=${encodeURIComponent(cluster)}`;
  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  };
  const output = openSync(join(folder, "server.log"), "a");
  let server: ChildProcess | undefined;
  const launch = (): ChildProcess => {
    const settings = ["listen_addresses=", "unix_socket_directories=.", "max_connections=100"];
    const options = settings.flatMap((setting) => ["-c", setting]);
    const command = [...user.prefix, join(programs, "postgres"), "-D", ".", ...options];
    const [program = "", ...parameters] = command;
    return spawn(program, parameters, {
      cwd: cluster,
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", TZ: "UTC", ...environment },
      stdio: ["ignore", output, output],
    });
  };
  const start = async (): Promise<void> => {
    await until(async () => {
      // While a process of the killed server is still alive, a new server ends immediately.
      if (!server || server.exitCode !== null || server.signalCode !== null) {
        await rm(join(cluster, "postmaster.pid"), { force: true });
        server = launch();
      }
      return (await query("select 1")).length === 1;
    }, 60_000);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };
  await start();
  return {
    url,
    query,
    start,
    async kill() {
      await end("SIGKILL");
      // The processes that serve clients do not notice the kill immediately.
      await killAll(cluster);
    },
    [Symbol.asyncDispose]: () => end("SIGINT"),
  };
}
