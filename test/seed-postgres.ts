import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { openDatabase } from "../src/database/database.ts";
import { openJobQueue } from "../src/jobs/job-queue.ts";
import { createLog } from "../src/std/log.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/postgres");
const majorVersion = "18";

/**
 * Puts a database that is made, migrated and empty into a folder that is not there yet, for an own PostgreSQL to be opened
 * there: to make one takes over a second of CPU, to copy one a tenth of that. No other database can be made there: the
 * templates are left out, half of all files. Tests of what makes it, or makes others, do without.
 */
export async function seedPostgres(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const seed = join(cache, keyOf());
  if (!existsSync(seed)) await makeSeed(seed);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A file with holes is not as PostgreSQL makes them: it would need room for them on a disk that is full.
  const how = ["--recursive", "--preserve=mode,ownership", "--sparse=never"];
  await run("cp", [...how, join(seed, majorVersion), folder]);
}

/** The server, the queue and the migrations decide what a new database is. */
function keyOf(): string {
  const hash = createHash("sha256").update(String(process.geteuid?.()));
  const sources = globSync(
    "src/database/{migrations/*,server-launch.ts,migrate.ts,queue-schema.ts}",
    {
      cwd: root,
    },
  );
  const others = ["package-lock.json", "src/jobs/job-queue.ts", "test/seed-postgres.ts"];
  for (const file of [...others, ...sources.toSorted()]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Others may make it at the same time: the first one stays. */
async function makeSeed(seed: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${seed}.`);
  try {
    await makeDatabase(folder);
    await rename(folder, seed).catch((error: unknown) => {
      if (!existsSync(seed)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeDatabase(folder: string): Promise<void> {
  const log = createLog("silent");
  await using database = await openDatabase({ url: undefined, folder, log, durable: false });
  await using _queue = await openJobQueue({ database, log, supervise: false });
  const { pool } = database;
  await pool.query("update pg_database set datistemplate = false where datistemplate");
  for (const name of ["template0", "template1"]) await pool.query(`drop database ${name}`);
}
