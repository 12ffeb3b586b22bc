import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { chooseServerPrograms } from "../../src/database/server-programs.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import type { ClusterPlaces, Place } from "./cluster-places.ts";
import { environmentOf, type Service } from "./composition.ts";

/** The folder of Debian's programs for clients. */
const clients = "/usr/lib/postgresql/15/bin";

/**
 * Starts PostgreSQL 18 as the image `postgres` does: it creates the cluster with the arguments, the
 * role and the database of its environment, and lets clients sign in with the password only.
 * Resolves when the health check of the compose file passes.
 */
export async function startClusterPostgres(
  place: Place,
  service: Service,
  places: ClusterPlaces,
): Promise<AsyncDisposable> {
  const major = /:(\d+)/.exec(service.image)?.[1] ?? "";
  const environment = environmentOf(service);
  const { POSTGRES_USER: role = "", POSTGRES_DB: database = "" } = environment;
  const folder = join(places.placed("/var/lib/postgresql", place), major, "docker");
  const { programs, user } = await chooseServerPrograms(dirname(folder), createLog("silent"));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = join(folder, "..", "password");
  writeFileSync(password, environment["POSTGRES_PASSWORD"] ?? "");
  for (const path of [folder, password]) {
    if (user.owner !== undefined) chownSync(path, user.owner, user.owner);
  }
  const run = (program: string, ...words: readonly string[]): [string, string[]] => {
    const [first = "", ...others] = [...user.prefix, program, ...words];
    return [first, others];
  };
  const wanted = (environment["POSTGRES_INITDB_ARGS"] ?? "").split(" ").filter(Boolean);
  const as = [`--username=${role}`, `--pwfile=${password}`, "--auth-local=trust"];
  const init = spawnSync(
    ...run(`${programs}/initdb`, "-D", folder, ...as, "--no-sync", ...wanted),
    {
      encoding: "utf8",
      cwd: folder,
    },
  );
  if (init.status !== 0) throw new Error(`initdb: ${init.stdout}${init.stderr}`);
  appendFileSync(join(folder, "pg_hba.conf"), "\nhost all all all scram-sha-256\n");
  const listening = ["-c", `listen_addresses=${place.address}`, "-k", folder];
  const child = spawn(...run(`${programs}/postgres`, "-D", folder, ...listening), {
    cwd: folder,
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const socket = encodeURIComponent(folder);
  await until(async () => {
    const connectionString = `postgres://${role}@/postgres?host=${socket}`;
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.query(`create database ${client.escapeIdentifier(database)}`);
    } finally {
      await client.end().catch(() => {});
    }
    return true;
  });
  const [, program = "", ...words] = service.healthcheck?.test ?? [];
  const check = words.map((word) => word.replace("127.0.0.1", place.address));
  await until(async () => {
    const { status } = spawnSync(join(clients, program), check, { env: { PGHOST: folder } });
    return Promise.resolve(status === 0);
  });
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await exited;
    },
  };
}
