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
 * there: to make one takes over a second of CPU, to copy one a quarter of that. Tests of what makes it do without.
 */
export async function seedPostgres(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const seed = join(cache, keyOf());
  if (!existsSync(seed)) await makeSeed(seed);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await run("cp", ["--archive", join(seed, majorVersion), folder]);
}

/** The server, the queue and the migrations decide what a new database is. */
function keyOf(): string {
  const hash = createHash("sha256").update(String(process.geteuid?.()));
  const sources = globSync("src/database/{migrations/*,server-launch.ts,migrate.ts}", {
    cwd: root,
  });
  for (const file of ["package-lock.json", "src/jobs/job-queue.ts", ...sources.toSorted()]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex").slice(0, 16);
}

/** Others may make it at the same time: the first one stays. */
async function makeSeed(seed: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${seed}.`);
  const log = createLog("silent");
  try {
    await using database = await openDatabase({ url: undefined, folder, log, durable: false });
    await using _queue = await openJobQueue({ database, log, supervise: false });
  } finally {
    await rename(folder, seed).catch(async () => rm(folder, { recursive: true, force: true }));
  }
}
