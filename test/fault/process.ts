import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { seedPostgres } from "../fixtures/seed-postgres.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");

/** `bin/hlust serve` as a real process. */
export interface ServiceProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly address: string;
  /** The first API key of the data folder; only the first node on a database creates one. */
  readonly key: string;
  /**
   * The time from the start to the first line that contains the address. Models may still be
   * loading then.
   */
  readonly answersMs: number;
  /** Returns what the process has written to standard output and standard error. */
  output(): { readonly out: string; readonly errors: string };
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
  /** Kills only this process, as a crash would. */
  crash(): Promise<void>;
}

/**
 * Starts the service on a data folder and waits until it is ready. Rejects with the service's
 * output if it ends first. The database is prepared beforehand if it is the service's own and has
 * no folder yet.
 */
export async function startService(
  dataFolder: string,
  environment: Readonly<Record<string, string>> = {},
  options: {
    readonly cwd?: string;
    readonly openFilesMax?: number;
    /** bin/hlust of another version. */
    readonly program?: string;
    /** The descriptors of sockets that are passed as systemd passes them (sd_listen_fds(3)). */
    readonly sockets?: readonly number[];
  } = {},
): Promise<ServiceProcess> {
  const { cwd = "/", openFilesMax, program = hlust, sockets = [] } = options;
  const hasDatabase = environment["HLUST_ROLE"] !== "engine";
  if (hasDatabase && !environment["DATABASE_URL"]) await seedPostgres(join(dataFolder, "postgres"));
  const began = performance.now();
  const limit = openFilesMax === undefined ? "" : `ulimit -n ${openFilesMax}; `;
  const passing = sockets.length > 0 ? `LISTEN_PID=$$ LISTEN_FDS=${sockets.length} ` : "";
  const child = spawn("/bin/sh", ["-c", `${limit}${passing}exec "$0" serve`, program], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: dataFolder,
      HLUST_ENGINE_PROCESSES: "1",
      // Another version may not know it.
      ...(program === hlust && { HLUST_FRONT_PROCESSES: "1" }),
      HLUST_ALLOW_MEDIA_FROM: "127.0.0.1",
      // Tests leave streams open when they stop the service.
      HLUST_DRAIN: "0",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe", ...sockets],
  });
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("no pipes");
  let out = "";
  let errors = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  let answersMs: number | undefined;
  const address = await new Promise<string>((ready, reject) => {
    stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (/^hlust: (?:answering|ready) at/m.test(out)) answersMs ??= performance.now() - began;
      const line = /^hlust: ready at (\S+)$/m.exec(out);
      if (line?.[1]) ready(line[1]);
    });
    child.once("exit", (code) => {
      reject(new Error(`exit ${code}\n${out}${errors}`));
    });
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exited = once(child, "exit");
    child.kill(signal);
    const [code] = await exited;
    return typeof code === "number" ? code : null;
  };
  const { pid } = child;
  if (pid === undefined) throw new Error("not started");
  return {
    child,
    pid,
    address,
    get key() {
      return readFileSync(join(dataFolder, "api-key"), "utf8").trim();
    },
    answersMs: answersMs ?? NaN,
    output: () => ({ out, errors }),
    stop: () => end("SIGTERM"),
    crash: async () => {
      await end("SIGKILL");
    },
    async [Symbol.asyncDispose]() {
      await end("SIGTERM");
    },
  };
}

/** A process as described by /proc. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Returns the process `pid` and all its descendants, with `pid` first. */
export function treeOf(pid: number): ProcessInfo[] {
  const all = allProcesses();
  const tree = all.filter((each) => each.pid === pid);
  for (const each of tree) tree.push(...all.filter(({ parent }) => parent === each.pid));
  return tree;
}

/**
 * Returns the PostgreSQL processes of a data folder (the postmaster and its workers), found by
 * their working directory.
 */
export function postgresOf(dataFolder: string): ProcessInfo[] {
  return allProcesses().filter(({ pid, command }) => {
    if (!command.includes("postgres")) return false;
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${dataFolder}/`);
    } catch {
      return false;
    }
  });
}

/** Returns every process of this machine, from /proc. */
export function allProcesses(): ProcessInfo[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return [{ pid: Number(name), parent, command }];
      } catch {
        return [];
      }
    });
}
