import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { bundledProgram } from "../fixtures/bundled-program.ts";

let program: Promise<string> | undefined;
const bundled = (): Promise<string> =>
  (program ??= bundledProgram(resolve(import.meta.dirname, "working-process.ts")));
/** Later processes use the code cache of the first. */
const compileCache = resolve(import.meta.dirname, "../../node_modules/.cache/node");

/** Of pino. */
const warnLevel = 40;
const endings: ReadonlySet<string> = new Set([
  "job.succeeded",
  "job.failed",
  "job.attempt_failed",
  "job.released",
  "job.lease_lost",
  "job.lost",
]);

/** How far a worker is with a job, by its log. */
export type Phase = "fetching" | "fetched" | "recognizing" | "ended";

/** A working process (working-process.ts), which logs what it does. */
export class Working implements AsyncDisposable {
  /** Jobs that it works on, by their id: which try it is. */
  readonly attempts = new Map<string, number>();
  /** How far it has come with the job that it spoke of last. */
  phase: Phase = "ended";
  /** Jobs that it has begun. */
  readonly begun = new Set<string>();
  /** Warnings and errors of its log. */
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

  /** Starts one on a data folder that a service keeps, and waits until it looks for jobs. */
  static async start(
    dataFolder: string,
    { pieceMs }: { readonly pieceMs: number },
  ): Promise<Working> {
    const working = new Working(await bundled(), dataFolder, pieceMs);
    await working.#ready.promise;
    return working;
  }

  /** kill -9; resolves when it is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  /** Lets it hand over its jobs and end. */
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
