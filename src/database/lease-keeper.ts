import type { Log } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import { LeaseLost } from "./lease.ts";

/** Extends a lease while the leased work continues. */
export class LeaseKeeper {
  /** Aborts with LeaseLost when the lease is lost. */
  readonly lost: AbortSignal;
  readonly #stopping = new AbortController();

  /**
   * `extend` returns false when the lease is lost. While the database is unavailable, no other
   * worker can lease the row either: the work continues, and `event` is logged.
   */
  constructor(
    extend: () => Promise<boolean>,
    {
      everyMs,
      log,
      event,
    }: { readonly everyMs: number; readonly log: Log; readonly event: string },
  ) {
    const lost = new AbortController();
    this.lost = lost.signal;
    const { signal } = this.#stopping;
    void repeat({ everyMs, firstAfterMs: everyMs, log, event, signal }, async () => {
      if ((await extend()) || signal.aborted) return;
      lost.abort(new LeaseLost());
      this.stop();
    });
  }

  /** Stops extending the lease; its loss is no longer noticed. */
  stop(): void {
    this.#stopping.abort();
  }
}
