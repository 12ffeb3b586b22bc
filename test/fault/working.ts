import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { bundledProgram } from "../fixtures/bundled-program.ts";

let program: Promise<string> | undefined;
const bundled = (): Promise<string> =>
  (program ??= bundledProgram(resolve(import.meta.dirname, "working-process.ts")));
/** Later processes use the code cache of the first one. */
const compileCache = resolve(import.meta.dirname, "../../node_modules/.cache/node");

/** pino's level for warnings. */
const warnLevel = 40;
const endings: ReadonlySet<string> = new Set([
  "job.succeeded",
  "job.failed",
  "job.attempt_failed",
  "job.released",
  "job.lease_lost",
  "job.lost",
]);

/** The phase of the job that a worker is running, according to its log. */
export type Phase = "fetching" | "fetched" | "recognizing" | "ended";

/** A working process (working-process.ts) that logs its work. */
export class Working implements AsyncDisposable {
  /** The number of the current attempt for each job that the process is running, by job id. */
  readonly attempts = new Map<string, number>();
  /** The phase of the job in the last line of the log. */
  phase: Phase = "ended";
  /** The jobs that the process has begun. */
  readonly begun = new Set<string>();
  /** The warnings and errors in its log. */
  readonly troubles: string[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ready = Promise.withResolvers<void>();

  private constructor(program: string, dataFolder: string, pieceMs: number) {
    const child = spawn(process.execPath, [program, dataFolder, `${pieceMs}`], {
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.#exited = once(child, "exit");
    this.#exited.then(
      () => this.#ready.reject(new Error(this.troubles.join("\n"))),
      () => {},
    );
    child.stdin.on("error", () => {});
    createInterface(child.stdout).on("line", (line) => this.#onLine(line));
    createInterface(child.stderr).on("line", (line) => this.#onLog(line));
  }

  /** Starts a worker on a data folder that a service uses, and waits until it looks for jobs. */
  static async start(
    dataFolder: string,
    { pieceMs }: { readonly pieceMs: number },
  ): Promise<Working> {
    const working = new Working(await bundled(), dataFolder, pieceMs);
    await working.#ready.promise;
    return working;
  }

  /** Kills the process (kill -9); resolves when it has ended. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Lets the worker hand over its jobs and end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    await this.#exited;
  }

  #onLine(line: string): void {
    if (line === "ready") return this.#ready.resolve();
    this.phase = "recognizing";
  }

  #onLog(line: string): void {
    if (!line.startsWith("{")) return void this.troubles.push(line);
    const { event, jobId, attempts, level } = JSON.parse(line);
    if (level >= warnLevel) this.troubles.push(line);
    if (event === "job.started") {
      this.begun.add(jobId);
      this.attempts.set(jobId, attempts);
      this.phase = "fetching";
    } else if (event === "job.fetched") {
      this.phase = "fetched";
    } else if (endings.has(event) && this.attempts.delete(jobId)) {
      this.phase = "ended";
    }
  }
}
