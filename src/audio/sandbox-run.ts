import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";

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

const complaintsCharsMax = 16_384;

interface Child {
  readonly process: ChildProcess;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Starts a command in a session of its own, without an environment. */
export function launch(
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

/** Returns the run of a child, which ends with all processes of its group. */
export function runOf(
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
