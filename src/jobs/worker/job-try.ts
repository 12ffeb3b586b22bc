import { Claim } from "./claim.ts";
import type { JobLease } from "../job-queue.ts";
import type { JobSlots, PieceSlots } from "./piece-slots.ts";
import type { JobParts } from "./run-job.ts";
import type { RunningJob } from "./running-jobs.ts";

/**
 * A job that this worker has leased, from the lease to the job's end or its way back to the queue.
 */
export class JobTry implements RunningJob {
  readonly lease: JobLease;
  readonly claim: Claim;
  readonly slots: JobSlots;
  /** The job is to go back, when the pieces that are being recognized are kept. */
  readonly stopping: AbortSignal;
  readonly #leaving = new AbortController();
  #hasMedia = false;
  #isSmall: boolean | undefined;
  #piecesKept = 0;

  /** `stopping`: the worker is to stop; `stopped`: at once. */
  constructor(
    parts: Pick<JobParts, "queue" | "database" | "log"> & { readonly slots: PieceSlots },
    lease: JobLease,
    stopping: AbortSignal,
    stopped: AbortSignal,
  ) {
    this.lease = lease;
    this.claim = new Claim(parts, lease, stopped);
    this.slots = parts.slots.of(lease);
    this.stopping = AbortSignal.any([stopping, this.#leaving.signal]);
  }

  get hasMedia(): boolean {
    return this.#hasMedia;
  }

  get isSmall(): boolean | undefined {
    return this.#isSmall;
  }

  get hasBegun(): boolean {
    return this.slots.hasBegun;
  }

  get isLeaving(): boolean {
    return this.stopping.aborted;
  }

  /** Of this try. */
  get piecesKept(): number {
    return this.#piecesKept;
  }

  leave(): void {
    this.#leaving.abort(new Error("the job makes room for others"));
  }

  onSize(isSmall: boolean): void {
    this.#isSmall = isSmall;
  }

  onKept(what: "media" | "piece"): void {
    if (what === "media") this.#hasMedia = true;
    else this.#piecesKept += 1;
  }
}
