import type { EngineAbsence } from "../protocol/engine-absence.ts";
import { connectMsMax } from "./hosted-server.ts";
import { ServerFailure } from "./server-failure.ts";

/** The interval of checks while the server is present and recognizes nothing. */
const presentMs = 10_000;
/** The intervals of checks while it is absent: each failure doubles them. */
const absentMs = { min: 500, max: 10_000 } as const;

export interface HealthOptions {
  /** Resolves if the server answers; throws ServerFailure. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly nowMs?: () => number;
  /** Starts a timer; returns a function that stops it. */
  readonly later?: (act: () => void, ms: number) => () => void;
}

/** Knows whether a server can recognize, from its answers and from checks in between. */
export class ServerHealth implements Disposable {
  readonly #options: Required<HealthOptions>;
  readonly #closing = new AbortController();
  #absence: Pick<EngineAbsence, "kind" | "reason"> | undefined;
  /** When the server was first missed since it last recognized anything. */
  #missedMs: number | undefined;
  /** The failures since then. A server that only answers checks is asked more and more seldom. */
  #failures = 0;
  #stopTimer = (): void => {};

  constructor({ probe, nowMs = () => performance.now(), later = startTimer }: HealthOptions) {
    this.#options = { probe, nowMs, later };
  }

  absence(): EngineAbsence | undefined {
    if (!this.#absence) return undefined;
    const missedMs = this.#missedMs ?? this.#options.nowMs();
    return { ...this.#absence, absentMs: Math.round(this.#options.nowMs() - missedMs) };
  }

  /** Called when the server has recognized an utterance. */
  recognized(): void {
    this.#absence = undefined;
    this.#missedMs = undefined;
    this.#failures = 0;
    this.#checkLater(presentMs);
  }

  /** Called when the server could not recognize. */
  failed({ kind, message }: Pick<ServerFailure, "kind" | "message">): void {
    const kinds = { busy: "BUSY", denied: "DENIED" } as const;
    this.#absence = {
      kind: kind === "busy" || kind === "denied" ? kinds[kind] : "UNREACHABLE",
      reason: message,
    };
    this.#missedMs ??= this.#options.nowMs();
    this.#failures += 1;
    this.#checkLater(Math.min(absentMs.max, absentMs.min * 2 ** (this.#failures - 1)));
  }

  /** Checks the server now, and then regularly. */
  async check(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await this.#options.probe(AbortSignal.any([signal, AbortSignal.timeout(connectMsMax)]));
      if (signal.aborted) return;
      this.#absence = undefined;
      this.#checkLater(presentMs);
    } catch (error) {
      if (signal.aborted) return;
      this.failed(
        error instanceof ServerFailure
          ? error
          : { kind: "unreachable", message: `it did not answer within ${connectMsMax / 1000} s` },
      );
    }
  }

  #checkLater(ms: number): void {
    this.#stopTimer();
    if (this.#closing.signal.aborted) return;
    this.#stopTimer = this.#options.later(() => void this.check(), ms);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#stopTimer();
  }
}

function startTimer(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}
