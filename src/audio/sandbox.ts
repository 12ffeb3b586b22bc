import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../std/log.ts";
import { wavHeader } from "../std/wav.ts";
import { launch, runOf, type SandboxRun } from "./sandbox-run.ts";
import { timedFormat } from "./timed-samples.ts";

export type { SandboxEnd, SandboxRun } from "./sandbox-run.ts";

/**
 * - bubblewrap: namespaces without network, with one file and the sandbox's own /proc.
 * - bubblewrap-without-proc: the same without /proc, which a container may not mount.
 * - reduced: limits only, and another user if the service runs as root.
 */
export const sandboxKinds = ["bubblewrap", "bubblewrap-without-proc", "reduced"] as const;
export type SandboxKind = (typeof sandboxKinds)[number];

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

const memoryBytesMaxDefault = 2 * 1024 ** 3;
const filesMax = 64;
/** The programs write no files, but bubblewrap writes a few lines to set itself up. */
const fileBytesMax = 65_536;
/** The uid and gid of the user without rights on every Linux system. */
const unprivilegedUser = 65_534;

/**
 * Determines how media can be decoded here: the first kind of sandboxKinds that works. The choice
 * "bubblewrap" stands for both kinds of it. A reduced sandbox that runs programs as the service's
 * own user has to be chosen by name, because a broken decoder could then read all data of the
 * service. Throws an Error for the operator if the choice does not work.
 */
export async function chooseSandbox(choice: "auto" | SandboxKind, log: Log): Promise<Sandbox> {
  for (const name of ["ffmpeg", "ffprobe", "prlimit", "setpriv", "nice"]) program(name);
  let reason = "HLUST_SANDBOX=reduced";
  if (choice !== "reduced") {
    const isExact = choice === "bubblewrap-without-proc";
    const { sandbox, problem } = await firstOf(isExact ? [withoutProc] : [bubblewrap, withoutProc]);
    if (sandbox === bubblewrap) return sandbox;
    if (sandbox !== undefined) {
      log.info({ reason: isExact ? "chosen" : problem }, "sandbox.without_proc");
      return sandbox;
    }
    if (choice !== "auto") {
      throw new Error(`HLUST_SANDBOX=bubblewrap, but bubblewrap does not work here: ${problem}`);
    }
    reason = problem;
  }
  const other = process.getuid?.() === 0 ? [reduced(unprivilegedUser)] : [];
  const same = reduced(undefined);
  const { sandbox, problem } = await firstOf([...other, same]);
  if (sandbox === undefined) throw new Error(`media cannot be decoded here: ${problem}`);
  if (sandbox === same && choice === "auto") throw new Error(sameUserRefused(reason));
  log.warn({ reason, otherUser: sandbox !== same }, "sandbox.reduced");
  return sandbox;
}

function sameUserRefused(reason: string): string {
  return (
    `media would be decoded without a sandbox, as the user who owns all data, since bubblewrap does not work here (${reason}). ` +
    "Allow user namespaces (in Docker: --security-opt seccomp=deploy/seccomp.json, and on a machine with AppArmor " +
    "--security-opt apparmor=unconfined), or set HLUST_SANDBOX=reduced to accept this."
  );
}

/** Returns the first sandbox that works, and what is wrong with the last one that does not. */
async function firstOf(
  sandboxes: readonly Sandbox[],
): Promise<{ readonly sandbox: Sandbox | undefined; readonly problem: string }> {
  let problem = "";
  for (const sandbox of sandboxes) {
    const found = await problemOf(sandbox);
    if (found === undefined) return { sandbox, problem };
    problem = found;
  }
  return { sandbox: undefined, problem };
}

/**
 * ffmpeg's libraries are found through /etc/alternatives and ld.so.cache. --new-session is not
 * used, because launch() creates a session for everything that bubblewrap starts.
 */
const namespaces =
  "--unshare-all --die-with-parent --cap-drop ALL --clearenv --ro-bind /usr /usr " +
  "--symlink usr/lib /lib --symlink usr/lib64 /lib64 --ro-bind-try /etc/alternatives /etc/alternatives " +
  "--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache --dev /dev --chdir /";

const bubblewrap = inBubblewrap("bubblewrap", ["--proc", "/proc"]);
/**
 * Containers mask parts of /proc, and the kernel then refuses to mount another one. The decoders
 * need none.
 */
const withoutProc = inBubblewrap("bubblewrap-without-proc", []);

function inBubblewrap(kind: SandboxKind, more: readonly string[]): Sandbox {
  return {
    kind,
    async start({ program: name, parameters, file, signal, ...bounds }) {
      const before = [...limits(bounds), program("bwrap"), ...namespaces.split(" "), ...more];
      const binds = file === undefined ? [] : ["--ro-bind", file, "/in"];
      const given = parameters(file === undefined ? "" : "/in");
      const command = [...before, ...binds, "--remount-ro", "/", program(name), ...given];
      return runOf(launch(command, { folder: "/", isPiped: file === undefined }), signal);
    },
  };
}

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

/** The sandboxes that have decoded in this process, which need not be tried again. */
const proven = new WeakSet<Sandbox>();

/**
 * Decodes a tenth of a second in the sandbox. Returns the reason if the decoding does not work.
 */
async function problemOf(sandbox: Sandbox): Promise<string | undefined> {
  if (proven.has(sandbox)) return undefined;
  if (sandbox.kind !== "reduced" && !findProgram("bwrap")) return "bubblewrap is not installed";
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
    if (status === 0 && bytes > 3200) {
      proven.add(sandbox);
      return undefined;
    }
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
