import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { WatchTranscriptResponse } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FeedReader } from "../watches/change-feed.ts";
import { copies, roomMsMax, type NodeWatches } from "../watches/node-watches.ts";
import { transcriptNotFound } from "./resource-names.ts";
import { readSeen, seenAt, seenMessage, showSame, type SeenTranscript } from "./seen-transcript.ts";

/** The memory for a message, without participants and for each of them. */
const messageBytes = { base: 2_000, participant: 500 } as const;
/** The number of transcripts that are read together. */
const readAtOnce = 500;

/**
 * Notifies the watches of single transcripts of this node. They share the poll of all watches
 * (ChangeFeed); a transcript that changes is read once for all its watches, which send its newest
 * state. Participants that expire change nothing in the database: each watch leaves them out when
 * their time is over.
 */
export class TranscriptWatchers {
  readonly #db: Kysely<Tables>;
  readonly #node: NodeWatches;
  /** The watched transcripts by account and id. */
  readonly #watched = new Map<string, Map<string, Watched>>();
  /** The number of reads that have begun. */
  #reads = 0;

  constructor(db: Kysely<Tables>, node: NodeWatches) {
    this.#db = db;
    this.#node = node;
    const reader = (kind: FeedReader["kind"]): FeedReader => ({
      kind,
      accounts: () => this.#watched.keys(),
      changed: async (changes) => await this.#changed(changes),
      failed: (error) => this.#end(error),
    });
    node.feed.add(reader("transcript"));
    node.feed.add(reader("activity"));
    const { stopping } = node;
    stopping.addEventListener("abort", () => this.#end(stopping.reason));
  }

  /**
   * Yields the state of a transcript immediately, then after each change, and again if nothing
   * changes for a while. Ends after the message that the transcript was deleted. Throws not_found
   * if the account has no such transcript, and resource_exhausted if it watches too much.
   */
  async *watch(
    accountId: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<WatchTranscriptResponse, void, undefined> {
    signal.throwIfAborted();
    const { stopping, feed, turns } = this.#node;
    stopping.throwIfAborted();
    using _place = this.#node.enter(accountId);
    const watcher = new Watcher();
    const onAbort = (): void => watcher.end(signal.reason);
    signal.addEventListener("abort", onAbort);
    const watched = this.#enter(accountId, id);
    watched.watchers.add(watcher);
    try {
      // What changes from here on is reported, even if the first state does not show it yet.
      await feed.begin();
      const first = await this.#first(watched);
      if (!first) throw transcriptNotFound(`transcripts/${id}`);
      yield* this.#send(watched, watcher, { accountId, signal });
    } catch (error) {
      // A thousand streams may be refused at the same moment.
      if (!signal.aborted) await turns.next(accountId);
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      watched.watchers.delete(watcher);
      this.#leave(watched);
    }
  }

  async *#send(
    watched: Watched,
    watcher: Watcher,
    { accountId, signal }: { readonly accountId: string; readonly signal: AbortSignal },
  ): AsyncGenerator<WatchTranscriptResponse, void, undefined> {
    const { room, turns, repeatMs } = this.#node;
    let sent: SeenTranscript | undefined;
    let repeatAt = 0;
    for (;;) {
      watcher.throwIfEnded();
      const now = performance.now();
      const seen = watched.seen && seenAt(watched.seen, now);
      if (seen && sent && showSame(sent, seen) && now < repeatAt) {
        await watcher.wait(Math.min(repeatAt, ...seen.participants.map(expiryOf)) - now);
        continue;
      }
      const bytes = messageBytes.base + messageBytes.participant * (seen?.participants.length ?? 0);
      const msMax = sent ? roomMsMax.later : roomMsMax.first;
      using _held = await room.take(accountId, copies * bytes, { msMax, signal });
      await turns.next(accountId);
      watcher.throwIfEnded();
      yield seenMessage(seen);
      if (!seen) return;
      sent = seen;
      repeatAt = now + repeatMs;
    }
  }

  #enter(accountId: string, id: string): Watched {
    const own = this.#watched.get(accountId) ?? new Map<string, Watched>();
    this.#watched.set(accountId, own);
    const watched = own.get(id) ?? {
      accountId,
      id,
      seen: undefined,
      reading: undefined,
      readBegan: 0,
      watchers: new Set(),
    };
    own.set(id, watched);
    return watched;
  }

  #leave(watched: Watched): void {
    const own = this.#watched.get(watched.accountId);
    if (watched.watchers.size > 0 || own?.get(watched.id) !== watched) return;
    own.delete(watched.id);
    if (own.size === 0) this.#watched.delete(watched.accountId);
  }

  /** Returns the state for a watch that begins: the one that others have, or else reads it. */
  async #first(watched: Watched): Promise<SeenTranscript | undefined> {
    if (watched.seen) return watched.seen;
    watched.reading ??= this.#read([watched]).finally(() => (watched.reading = undefined));
    await watched.reading;
    return watched.seen;
  }

  async #changed(changes: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const all = [...changes].flatMap(([accountId, ids]) =>
      ids.flatMap((id) => this.#watched.get(accountId)?.get(id) ?? []),
    );
    for (let at = 0; at < all.length; at += readAtOnce) {
      await this.#read(all.slice(at, at + readAtOnce));
    }
  }

  async #read(some: readonly Watched[]): Promise<void> {
    const began = ++this.#reads;
    const found = await readSeen(
      this.#db,
      some.map(({ id }) => id),
    );
    for (const watched of some) {
      // A read that began later has ended before this one.
      if (watched.readBegan > began) continue;
      watched.readBegan = began;
      const seen = found.get(watched.id);
      watched.seen = seen?.accountId === watched.accountId ? seen : undefined;
      for (const watcher of watched.watchers) watcher.wake();
    }
  }

  #end(error: unknown): void {
    for (const own of this.#watched.values()) {
      for (const { watchers } of own.values()) for (const watcher of watchers) watcher.end(error);
    }
  }
}

interface Watched {
  readonly accountId: string;
  readonly id: string;
  /** The newest state; undefined if it has not been read, or the transcript was deleted. */
  seen: SeenTranscript | undefined;
  /** The first read, while it runs. */
  reading: Promise<void> | undefined;
  /** The number of the read that `seen` is from. */
  readBegan: number;
  readonly watchers: Set<Watcher>;
}

/** One stream, which sleeps until its transcript changes. */
class Watcher {
  #end: { readonly error: unknown } | undefined;
  #isAwake = false;
  #wake = (): void => {};

  wake(): void {
    this.#isAwake = true;
    this.#wake();
  }

  end(error: unknown): void {
    this.#end ??= { error };
    this.wake();
  }

  throwIfEnded(): void {
    if (this.#end) throw this.#end.error;
  }

  /** Resolves after `msMax`, or as soon as wake() is called, also before this call. */
  async wait(msMax: number): Promise<void> {
    if (!this.#isAwake) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, msMax);
      this.#wake = resolve;
      await promise;
      clearTimeout(timer);
    }
    this.#isAwake = false;
  }
}

function expiryOf({ expiresAtMs }: SeenTranscript["participants"][number]): number {
  return expiresAtMs;
}
