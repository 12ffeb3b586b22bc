import { spawn } from "node:child_process";
import { access, mkdir, open, readdir, readFile, rename, stat, statfs } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { errorFields, type Log } from "../std/log.ts";
import { programPath } from "./run-program.ts";
import type { ServerPrograms } from "./server-programs.ts";

/** An attempt to run the server, which outlives this process. */
export interface Launch {
  /**
   * The exit status of the attempt. undefined: the server is running. "taken": another process of
   * the folder is running or starting the server.
   */
  readonly status: number | "taken" | undefined;
}

export interface LaunchOptions {
  readonly folder: string;
  readonly majorVersion: string;
  readonly durable?: boolean;
  readonly log: Log;
}

/** The exit status of flock when another process holds the folder. */
const takenStatus = 75;
/** The size of the server's log above which it is renamed to server.log.1 at the next start. */
const logBytesMax = 5_000_000;
/** What the server needs of /dev/shm, with room to spare. */
const sharedMemoryBytesMin = 4 * 1024 ** 2;

/**
 * Runs under an exclusive lock of the folder, which the server and all its processes inherit. While
 * one of them is alive, including survivors of a killed postmaster, no second server can start. The
 * holder of the lock knows that any lock files are left over, whatever process has their number
 * now. All paths are relative, and the folder is the working directory.
 */
const steps = `
set -eu
programs=$1 owner=$2 version=$3 fsync=$4 memory=$5
shift 5
rm -rf "$version.new"
[ "$fsync" = off ] && sync=--no-sync || sync=--sync-method=syncfs
if [ ! -d "$version" ]; then
  mkdir -m 700 "$version.new"
  [ -z "$owner" ] || chown "$owner:$owner" "$version.new"
  (cd "$version.new" && "$@" "$programs/initdb" -D /proc/self/cwd -U hlust -A trust -E UTF8 \\
    --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C.UTF-8 --data-checksums "$sync")
  mv -T "$version.new" "$version"
  [ "$fsync" = off ] || sync . ..
fi
[ -z "$owner" ] || chown -Rh "$owner:$owner" "$version"
cd "$version"
rm -f postmaster.pid .s.PGSQL.5432 .s.PGSQL.5432.lock
exec "$@" "$programs/postgres" -D /proc/self/cwd -c fsync="$fsync" \\
  -c dynamic_shared_memory_type="$memory" `;

/**
 * The server is reachable only through a socket in the data folder, is durable, and logs no user
 * data.
 */
const settings = {
  listen_addresses: "",
  unix_socket_directories: ".",
  unix_socket_permissions: "0700",
  synchronous_commit: "on",
  // initdb would choose less on some machines (docs/operations.md, PostgreSQL).
  max_connections: "100",
  shared_buffers: "128MB",
  wal_compression: "on",
  recovery_init_sync_method: "syncfs",
  // Containers have little shared memory, and no query in this project benefits from parallel
  // workers.
  max_parallel_workers_per_gather: "0",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
  cluster_name: "hlust",
} as const;

const command =
  steps +
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");

/** Creates the folder, or throws an error with a message for the operator. */
export async function prepareFolder(folder: string, majorVersion: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `the folder ${folder} of the service's own PostgreSQL cannot be used: ${String(error)}. ` +
        `Choose another with HLUST_DATA, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  const others = (await readdir(folder)).filter((n) => /^\d+$/.test(n) && n !== majorVersion);
  if (others.length > 0) {
    throw new Error(
      `${folder} holds data of PostgreSQL ${others.join(", ")}, and this version of Hlust brings ${majorVersion}, which ` +
        `cannot read it. Run \`hlust backup\` of the version of Hlust that used it, and \`hlust restore\` of this version ` +
        `into another HLUST_DATA; keep ${folder} until that one is proven (docs/operations.md, Major versions of PostgreSQL)`,
    );
  }
  await refuseForeignData(join(folder, majorVersion));
}

/**
 * Throws if the data belongs to a different user. An ordinary user cannot use data that root has
 * created, but root can use the data of any user.
 */
async function refuseForeignData(cluster: string): Promise<void> {
  const user = process.geteuid?.() ?? 0;
  if (user === 0) return;
  const owner = await stat(cluster).then(
    ({ uid }) => uid,
    () => user,
  );
  if (owner !== user) {
    throw new Error(
      `${cluster} belongs to user ${owner}, and the service runs as user ${user}: run it as that user, or give the folder ` +
        `to this one (chown -R)`,
    );
  }
}

/**
 * Starts the server of the folder, and creates its data before the first start. The server outlives
 * this process.
 */
export async function launchServer(
  { programs, user }: ServerPrograms,
  options: LaunchOptions,
): Promise<Launch> {
  const { folder, majorVersion, log, durable = true } = options;
  const lock = ["--nonblock", "--conflict-exit-code", String(takenStatus), "--no-fork", "."];
  const script = ["sh", "-c", command, "own-postgres"];
  const memory = await sharedMemoryType();
  if (memory === "mmap") log.info({}, "database.no_shared_memory");
  const fsync = durable ? "on" : "off";
  const parameters = [programs, String(user.owner ?? ""), majorVersion, fsync, memory];
  const file = await openServerLog(folder);
  try {
    const child = spawn("flock", [...lock, ...script, ...parameters, ...user.prefix], {
      cwd: folder,
      detached: true,
      env: { PATH: programPath, LC_ALL: "C.UTF-8", TZ: "UTC" },
      stdio: ["ignore", file.fd, file.fd],
    });
    child.unref();
    let status: Launch["status"];
    child.on("error", (error) => {
      log.error(errorFields(error), "database.not_launched");
      status = 127;
    });
    child.on("exit", (code) => (status = code === takenStatus ? "taken" : (code ?? 1)));
    return {
      get status() {
        return status;
      },
    };
  } finally {
    await file.close();
  }
}

/**
 * Returns where the server's processes share memory. A container may have no /dev/shm, or a tiny
 * one; then they share a file of the data folder. initdb chooses only once, for the first start.
 */
async function sharedMemoryType(): Promise<"posix" | "mmap"> {
  try {
    await access("/dev/shm", constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs("/dev/shm");
    return bavail * bsize < sharedMemoryBytesMin ? "mmap" : "posix";
  } catch {
    return "mmap";
  }
}

async function openServerLog(folder: string) {
  const path = join(folder, "server.log");
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > logBytesMax) await rename(path, `${path}.1`);
  return open(path, "a", 0o600);
}

/** Creates an error that states why there is no server, with the end of its log. */
export async function serverTrouble(folder: string, why: string): Promise<Error> {
  const path = join(folder, "server.log");
  const text = await readFile(path, "utf8").catch(() => "");
  const tail = text.trimEnd().split("\n").slice(-6).join("\n  ");
  return new Error(
    `the service's own PostgreSQL in ${folder} does not work: ${why}. The end of ${path}:\n  ${tail}`,
  );
}
