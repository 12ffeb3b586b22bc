import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { HeldBytes, HeldShare } from "../std/held-bytes.ts";
import type { ListPart, Sized } from "./list-part.ts";

/** The wait before a read is retried that failed because the database is unavailable. */
const retryMs = 500;
/** The memory for an id that waits to be sent. */
const idBytes = 100;

/** One stream that watches a list: stores what has changed and has not been sent yet. */
export class ListWatcher<Message> implements Disposable {
  readonly accountId: string;
  /** Whether the stream has sent something. */
  hasSent = false;
  readonly #ending = new AbortController();
  readonly #call: AbortSignal;
  readonly #share: HeldShare;
  #parts: ListPart<Message>[] = [];
  #hasLeft = false;
  #wake = (): void => {};

  constructor(accountId: string, call: AbortSignal, held: HeldBytes) {
    this.accountId = accountId;
    this.#call = call;
    this.#share = held.hold(accountId);
    call.addEventListener("abort", this.#onAbort);
  }

  /** Aborts when the stream ends, with the reason. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(error: unknown): void {
    this.#ending.abort(error);
    this.#wake();
  }

  /**
   * Receives changes. Those that have not been sent are replaced by the newest state of the same
   * resources. If there is no memory for more of them, the stream ends.
   */
  take(
    parts: readonly ListPart<Message>[],
    divide: (found: readonly Sized[], removed: readonly string[]) => readonly ListPart<Message>[],
  ): void {
    if (this.#hasLeft) return;
    const waiting = this.#parts.length > 0 ? merged([...this.#parts, ...parts], divide) : parts;
    try {
      this.#share.grow(idBytes * Math.max(0, count(waiting) - count(this.#parts)));
    } catch (error) {
      return this.end(error);
    }
    this.#parts = [...waiting];
    this.#wake();
  }

  /** Drops the changes that wait, since the first messages show them. */
  clear(): void {
    this.#share.shrink(idBytes * count(this.#parts));
    this.#parts = [];
  }

  /** Resolves with the next part to send, or with undefined if there is none within `msMax`. */
  async next(msMax: number): Promise<ListPart<Message> | undefined> {
    if (this.#parts.length === 0 && !this.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, msMax);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.signal.throwIfAborted();
    const part = this.#parts.shift();
    if (part) this.#share.shrink(idBytes * count([part]));
    return part;
  }

  /** Reads. If the database is unavailable, a stream that has sent something waits for it. */
  async read<Result>(reading: () => Promise<Result>): Promise<Result> {
    for (;;) {
      this.signal.throwIfAborted();
      try {
        return await reading();
      } catch (error) {
        if (!this.hasSent || databaseTrouble(error) === undefined) throw error;
        await sleep(retryMs, undefined, { signal: this.signal }).catch(() => {});
      }
    }
  }

  [Symbol.dispose](): void {
    this.#hasLeft = true;
    this.#call.removeEventListener("abort", this.#onAbort);
    this.#share[Symbol.dispose]();
  }

  readonly #onAbort = (): void => this.end(this.#call.reason);
}

function count(parts: readonly ListPart<unknown>[]): number {
  return parts.reduce((sum, { found, removed }) => sum + found.length + removed.length, 0);
}

/** Returns the newest entry of each resource in these parts. */
function merged<Message>(
  parts: readonly ListPart<Message>[],
  divide: (found: readonly Sized[], removed: readonly string[]) => readonly ListPart<Message>[],
): readonly ListPart<Message>[] {
  const newest = new Map<string, Sized | undefined>();
  for (const { found, removed } of parts) {
    for (const each of found) newest.set(each.id, each);
    for (const id of removed) newest.set(id, undefined);
  }
  const found = [...newest.values()].filter((each) => each !== undefined);
  const removed = [...newest].flatMap(([id, each]) => (each ? [] : [id]));
  return divide(found, removed);
}
