import { errorFields, type Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type EngineAbsence, engineFailed, noEngine } from "../protocol/engine-absence.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import type { SessionEnd } from "./child-session.ts";
import type { EngineChild } from "./engine-child.ts";
import { absentEngine } from "./session-placement.ts";

/**
 * The number of process crashes during work on a session, since its last commit, after which the
 * session is considered to be their cause.
 */
const crashesMax = 2;

/**
 * The number of processes that do nothing for a session, since its last commit, after which its
 * recognition ends: each costs a minute.
 */
const ignoredMax = 3;
const ignoredRetryMs = 10_000;

/** How long a recognition that gets no further waits for a server that is absent now and then. */
const absentMsMax = 30_000;

/** How long a job waits before it asks a server again that answered it with an error. */
const answeredRetryMs = 60_000;

/**
 * How often the session of a recognition has ended since its last commit without being done, and
 * whether another process may continue it. Each method throws the error of the recognition if not.
 */
export class SessionFailures {
  readonly #mode: RecognitionMode;
  readonly #log: Log;
  readonly #keptSeconds: () => number;
  /** When a server was first absent. */
  #absentSinceMs: number | undefined;
  #losses = 0;
  /** The number of processes that were lost while they worked on this session. */
  #crashes = 0;
  /** Whether a process has reported an error of this session. */
  #hasFailed = false;
  #ignored = 0;
  #avoided: EngineChild | undefined;

  /** `keptSeconds` returns the audio that another process gets. */
  constructor(mode: RecognitionMode, log: Log, keptSeconds: () => number) {
    this.#mode = mode;
    this.#log = log;
    this.#keptSeconds = keptSeconds;
  }

  /** Whether a process was lost with the session, which may be the cause. */
  get isSuspect(): boolean {
    return this.#losses > 0;
  }

  /** The process in which the session should not continue. */
  get avoided(): EngineChild | undefined {
    return this.#avoided;
  }

  /** The session has committed. */
  clear(): void {
    this.#losses = 0;
    this.#crashes = 0;
    this.#hasFailed = false;
    this.#ignored = 0;
    this.#avoided = undefined;
    this.#absentSinceMs = undefined;
  }

  /**
   * Lets a stream continue with another model, or wait for this one. A server that fails at every
   * utterance, but seems to be present, ends it.
   */
  absent(absence: EngineAbsence): void {
    this.#absentSinceMs ??= performance.now();
    this.moved();
    const isOver = performance.now() - this.#absentSinceMs > absentMsMax;
    if (this.#mode === "job" || isOver) throw absentEngine(absence);
  }

  /**
   * Lets the session continue in another process, once: the process may lack memory, or something
   * else that the next one has. Throws the error if the audio seems to be the cause.
   */
  failed({ error, isReported }: SessionEnd & { kind: "failed" }, child: EngineChild): void {
    if (isReported !== true || this.#hasFailed) throw error;
    this.#hasFailed = true;
    this.#avoided = child;
    this.#log.warn({ ...this.#fields, pid: child.pid, ...errorFields(error) }, "engine.retry");
  }

  /** Throws the error for audio that the server of a hosted model answers with an error. */
  answered({ answer, error }: SessionEnd & { readonly kind: "answered" }): never {
    const message = `the server of the speech model answers this audio with an error: ${answer}`;
    const options = { reason: engineFailed, cause: error };
    if (this.#mode !== "job") throw new ServiceError("internal", message, options);
    throw new ServiceError("unavailable", message, { ...options, retryAfterMs: answeredRetryMs });
  }

  /** A process that is lost twice while it works on the session ends the recognition. */
  lost({ wasActive }: SessionEnd & { readonly kind: "lost" }): void {
    this.#losses += 1;
    if (wasActive) this.#crashes += 1;
    const fields = { ...this.#fields, losses: this.#losses };
    if (this.#crashes < crashesMax) {
      this.#log.debug(fields, "engine.replay");
      return;
    }
    this.#log.warn(fields, "engine.poison");
    throw new ServiceError(
      "internal",
      `the speech engine failed on this audio ${this.#losses} times in a row`,
      { reason: engineFailed },
    );
  }

  /** Lets the session continue in another process, since this one does nothing for it. */
  ignored(child: EngineChild): void {
    this.#ignored += 1;
    this.#avoided = child;
    this.moved();
    if (this.#ignored < ignoredMax) return;
    throw new ServiceError("unavailable", "no speech engine answers; try again", {
      reason: noEngine,
      retryAfterMs: ignoredRetryMs,
    });
  }

  /** The session continues elsewhere through no fault of its own. */
  moved(): void {
    this.#log.debug(this.#fields, "engine.moved");
  }

  get #fields() {
    return { mode: this.#mode, keptSeconds: this.#keptSeconds() };
  }
}
