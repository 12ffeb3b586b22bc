import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { chooseServerUser } from "../src/database/server-user.ts";
import { until } from "./until.ts";

const program = "/usr/sbin/pgbouncer";
/** Names its socket; it listens on no port. */
const port = 6432;

/** A PgBouncer before a PostgreSQL, as Debian packages it: every setting that is not named here is its default. */
export interface TestPgbouncer extends AsyncDisposable {
  /** The DATABASE_URL of a database behind it. */
  url(database: string): string;
  /** Commands of its console, such as `kill NAME` or `show pools`. */
  admin(command: string): Promise<Record<string, unknown>[]>;
  /** kill -9, and another one in its place. */
  restart(): Promise<void>;
  /** What it has logged. */
  log(): Promise<string>;
}

/** Starts one; `postgres` is the folder of the socket of the server behind it. */
export async function openTestPgbouncer(options: {
  readonly postgres: string;
  readonly mode: "session" | "transaction";
  readonly user?: string;
  /** Lines of its configuration beyond what it needs to start. */
  readonly settings?: readonly string[];
}): Promise<TestPgbouncer> {
  const { postgres, mode, user = "hlust", settings = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), "hlust-pgbouncer-"));
  const { prefix, owner } = await chooseServerUser();
  const [logFile, users, configuration] = [
    join(folder, "pgbouncer.log"),
    join(folder, "users.txt"),
    join(folder, "pgbouncer.ini"),
  ];
  await writeFile(users, `"${user}" ""\n`);
  await writeFile(
    configuration,
    [
      "[databases]",
      `* = host=${postgres}`,
      "[pgbouncer]",
      `pool_mode = ${mode}`,
      "listen_addr =",
      `listen_port = ${port}`,
      `unix_socket_dir = ${folder}`,
      `logfile = ${logFile}`,
      "auth_type = trust",
      `auth_file = ${users}`,
      `admin_users = ${user}`,
      ...settings,
      "",
    ].join("\n"),
  );
  if (owner !== undefined) {
    for (const path of [folder, users, configuration]) await chown(path, owner, owner);
  }
  // With this process it goes, however this process ends.
  const mortal = ["/usr/bin/setpriv", "--pdeathsig", "KILL", program, "--quiet", configuration];
  const [command = "", ...parameters] = [...prefix, ...mortal];
  const launch = () => spawn(command, parameters, { stdio: ["ignore", "ignore", "inherit"] });
  let child = launch();
  const url = (database: string) =>
    `postgres://${user}@/${database}?host=${encodeURIComponent(folder)}&port=${port}`;
  const admin = async (sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: url("pgbouncer") });
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  const answering = async () => {
    await until(async () => {
      assert.equal(child.exitCode, null, "it has ended");
      return (await admin("show version")).length === 1;
    });
  };
  const end = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  await answering();
  return {
    url,
    admin,
    async restart() {
      await end();
      child = launch();
      await answering();
    },
    log: () => readFile(logFile, "utf8"),
    async [Symbol.asyncDispose]() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
