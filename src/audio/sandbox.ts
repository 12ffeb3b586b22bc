import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Log } from "../std/log.ts";
import { wavHeader } from "../std/wav.ts";
import { timedFormat } from "./timed-samples.ts";

export type SandboxKind = "bubblewrap" | "reduced";

/** Runs the programs that read untrusted media. */
export interface Sandbox {
  readonly kind: SandboxKind;
  /** Starts a program that can read only this file. Disposing of the run ends the program. */
  start(options: SandboxOptions): Promise<SandboxRun>;
}

export interface SandboxOptions {
  readonly program: "ffmpeg" | "ffprobe";
  /**
   * Returns the parameters for the path of the file in the sandbox, which is "" if there is none.
   * The parameters must not contain text from users.
   */
  readonly parameters: (file: string) => readonly string[];
  /**
   * The absolute path of the file to read. The file must be readable by all users, but its folder
   * need not be. Absent for a program that reads SandboxRun.stdin instead.
   */
  readonly file?: string;
  readonly cpuSecondsMax: number;
  /** The maximum address space of the program. Default: memoryBytesMaxDefault. */
  readonly memoryBytesMax?: number;
  /** Whether to run at the lowest priority, because nothing waits for the result. */
  readonly isLowPriority?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SandboxRun extends AsyncDisposable {
  readonly pid: number | undefined;
  /** Absent for a program that reads a file. */
  readonly stdin?: Writable | null;
  readonly stdout: Readable;
  /** Resolves when the program has ended; never rejects. */
  readonly ended: Promise<SandboxEnd>;
}

export interface SandboxEnd {
  /** The exit status; 128 + signal if the program was killed. */
  readonly status: number;
  /**
   * The end of the program's standard error, at most complaintsCharsMax characters. It must not be
   * logged, since it may name files.
   */
  readonly complaints: string;
}

const memoryBytesMaxDefault = 2 * 1024 ** 3;
const filesMax = 64;
/** The programs write no files, but bubblewrap writes a few lines to set itself up. */
const fileBytesMax = 65_536;
const complaintsCharsMax = 16_384;
/** The uid and gid of the user without rights on every Linux system. */
const unprivilegedUser = 65_534;

/**
 * Determines how media can be decoded here: in bubblewrap (with its own namespaces, no network and
 * only one file) or reduced (with limits, and as a user without rights if the service runs as
 * root). Throws an Error for the operator if the choice does not work.
 */
export async function chooseSandbox(choice: "auto" | SandboxKind, log: Log): Promise<Sandbox> {
  for (const name of ["ffmpeg", "ffprobe", "prlimit", "setpriv", "nice"]) program(name);
  let reason = "HLUST_SANDBOX=reduced";
  if (choice !== "reduced") {
    const problem = await problemOf(bubblewrap);
    if (problem === undefined) return bubblewrap;
    if (choice === "bubblewrap") {
      throw new Error(`HLUST_SANDBOX=bubblewrap, but bubblewrap does not work here: ${problem}`);
    }
    reason = problem;
  }
  const users = process.getuid?.() === 0 ? [unprivilegedUser, undefined] : [undefined];
  let problem: string | undefined;
  for (const user of users) {
    const sandbox = reduced(user);
    problem = await problemOf(sandbox);
    if (problem !== undefined) continue;
    log.warn({ reason, otherUser: user !== undefined }, "sandbox.reduced");
    return sandbox;
  }
  throw new Error(`media cannot be decoded here: ${problem}`);
}

/**
 * ffmpeg's libraries are found through /etc/alternatives and ld.so.cache. --new-session is not
 * used, because launch() creates a session for everything that bubblewrap starts.
 */
const namespaces =
  "--unshare-all --die-with-parent --cap-drop ALL --clearenv --ro-bind /usr /usr " +
  "--symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind-try /etc/alternatives /etc/alternatives " +
  "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache --proc /proc --dev /dev --chdir /";

const bubblewrap: Sandbox = {
  kind: "bubblewrap",
  async start({ program: name, parameters, file, signal, ...bounds }) {
    const before = [...limits(bounds), program("bwrap"), ...namespaces.split(" ")];
    const binds = file === undefined ? [] : ["--ro-bind", file, "/in"];
    const given = parameters(file === undefined ? "" : "/in");
    const command = [...before, ...binds, "--remount-ro", "/", program(name), ...given];
    return runOf(launch(command, { folder: "/", isPiped: file === undefined }), signal);
  },
};

/**
 * Returns a sandbox that runs programs with limits, and as `user` if it is defined. The programs
 * receive the file as an open descriptor, since they cannot read our folders.
 */
function reduced(user: number | undefined): Sandbox {
  const identity =
    user === undefined
      ? []
      : [`--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--bounding-set=-all"];
  const rights = [...identity, "--no-new-privs", "--inh-caps=-all", "--pdeathsig", "KILL"];
  return {
    kind: "reduced",
    async start({ program: name, parameters, file, signal, ...bounds }) {
      const before = [program("setpriv"), ...rights, ...limits(bounds)];
      const given = parameters(file === undefined ? "" : "/dev/fd/3");
      const command = [...before, program(name), ...given];
      const folder = await emptyFolder();
      if (file === undefined) return runOf(launch(command, { folder, isPiped: true }), signal);
      await using handle = await open(file, "r");
      return runOf(launch(command, { folder, file: handle.fd }), signal);
    },
  };
}

function limits({
  cpuSecondsMax,
  memoryBytesMax = memoryBytesMaxDefault,
  isLowPriority = false,
}: Pick<SandboxOptions, "cpuSecondsMax" | "memoryBytesMax" | "isLowPriority">): string[] {
  return [
    ...(isLowPriority ? [program("nice"), "--adjustment=19"] : []),
    program("prlimit"),
    `--as=${memoryBytesMax}`,
    `--cpu=${Math.ceil(cpuSecondsMax)}`,
    `--fsize=${fileBytesMax}`,
    `--nofile=${filesMax}`,
    "--core=0",
  ];
}

interface Child {
  readonly process: ChildProcess;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

function launch(
  [executable = "", ...parameters]: readonly string[],
  options: { readonly folder: string; readonly file?: number; readonly isPiped?: boolean },
): Child {
  const { folder, file, isPiped = false } = options;
  const child = spawn(executable, parameters, {
    cwd: folder,
    env: {},
    detached: true,
    stdio: [isPiped ? "pipe" : "ignore", "pipe", "pipe", file ?? "ignore"],
  });
  const { stdin, stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error("there are no pipes");
  // A program that ends early does not read the rest of its input.
  stdin?.on("error", () => {});
  return { process: child, stdin, stdout, stderr };
}

function runOf(
  { process: child, stdin, stdout, stderr }: Child,
  signal: AbortSignal | undefined,
): SandboxRun {
  let complaints = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-complaintsCharsMax);
  });
  let isOver = false;
  // Kills the whole process group, because killing only bubblewrap while it starts would leave its
  // children running.
  const kill = (): void => {
    if (!isOver && child.pid !== undefined) killGroup(child.pid);
  };
  signal?.addEventListener("abort", kill, { once: true });
  if (signal?.aborted === true) kill();
  const { promise: ended, resolve } = Promise.withResolvers<SandboxEnd>();
  const end = (status: number): void => {
    isOver = true;
    signal?.removeEventListener("abort", kill);
    resolve({ status, complaints });
  };
  child.once("error", (error) => {
    complaints = error.message;
    end(127);
  });
  child.once("exit", (status, name) => {
    const code = status ?? 128 + (name === null ? 0 : constants.signals[name]);
    // Some of the program's standard error may still be in the pipe, which closes with the last
    // process of the group.
    if (stderr.closed) end(code);
    else stderr.once("close", () => end(code));
  });
  return {
    pid: child.pid,
    stdin,
    stdout,
    ended,
    async [Symbol.asyncDispose]() {
      kill();
      stdin?.destroy();
      stdout.destroy();
      await ended;
    },
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/**
 * Decodes a tenth of a second in the sandbox. Returns the reason if the decoding does not work.
 */
async function problemOf(sandbox: Sandbox): Promise<string | undefined> {
  if (sandbox === bubblewrap && !findProgram("bwrap")) return "bubblewrap is not installed";
  const folder = await mkdtemp(join(tmpdir(), "hlust-sandbox-"));
  try {
    const file = join(folder, "silence.wav");
    await writeFile(file, silentWav(), { mode: 0o644 });
    await using run = await sandbox.start({
      program: "ffmpeg",
      parameters: (path) => [
        "-nostdin",
        "-v",
        "error",
        "-i",
        `file:${path}`,
        "-f",
        timedFormat,
        "-",
      ],
      file,
      cpuSecondsMax: 10,
    });
    let bytes = 0;
    for await (const chunk of run.stdout as AsyncIterable<Buffer>) bytes += chunk.length;
    const { status, complaints } = await run.ended;
    // The output consists of 3200 bytes of samples, and of headers.
    if (status === 0 && bytes > 3200) return undefined;
    return complaints.trim().split("\n", 1)[0] || `exit status ${status}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns 0.1 s of silence at 16 kHz, with 16 bits and one channel. */
function silentWav(): Buffer {
  const dataBytes = 3200;
  return Buffer.concat([
    wavHeader({ sampleRateHertz: 16_000, dataBytes }),
    Buffer.alloc(dataBytes),
  ]);
}

/** Creates an empty folder without write permission, to be used as the working directory. */
async function emptyFolder(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `hlust-empty-${uid}`);
  await mkdir(folder, { mode: 0o555 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid) {
    throw new Error(`${folder} belongs to another user`);
  }
  await chmod(folder, 0o555);
  return folder;
}

/** Returns the absolute path of a system program, found without PATH. */
function findProgram(name: string): string | undefined {
  return ["/usr/bin", "/bin", "/usr/local/bin"]
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
}

function program(name: string): string {
  const path = findProgram(name);
  if (path === undefined) {
    throw new Error(`${name} is not installed: apt-get install ffmpeg bubblewrap util-linux`);
  }
  return path;
}
