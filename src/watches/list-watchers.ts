import type { ResourceChangeTable } from "../database/job-tables.ts";
import { mapInTurns } from "../std/in-turns.ts";
import type { FeedReader } from "./change-feed.ts";
import { divided, ListPart, type Sized } from "./list-part.ts";
import { ListWatcher } from "./list-watcher.ts";
import { copies, roomMsMax, type NodeWatches } from "./node-watches.ts";

/** The number of changed resources that are found together. */
const foundAtOnce = 1_000;

/** A resource of an account, before it is read to be sent. */
export interface FoundResource extends Sized {
  readonly accountId: string;
}

/** A list that can be watched. */
export interface WatchedList<Found extends FoundResource, Message> {
  readonly kind: ResourceChangeTable["kind"];
  /** Finds these resources, if they still exist. */
  find(ids: readonly string[]): Promise<readonly Found[]>;
  /**
   * Reads the message about resources that have changed, and about those that do not belong to the
   * list any more. Without any, it returns the message that keeps a stream open.
   */
  read(accountId: string, ids: readonly string[], removed: readonly string[]): Promise<Message>;
  /** Whether messages name the resources that do not belong to the list any more. */
  readonly namesRemoved: boolean;
}

/** The filter of a list. Watches with the same text share the work. */
export interface WatchFilter<Found> {
  readonly text: string;
  matches(found: Found): boolean;
}

/** A message before the changes. */
export interface FirstPart<Message> {
  readonly bytes: number;
  message(): Promise<Message>;
}

/**
 * Notifies the watches of lists of this node: first of what there is, then of changes, wherever
 * they are made. All watches share one poll (ChangeFeed). What has changed is found once, and each
 * message is read once for all watches of the same list. A message is read when there is memory for
 * it, and so has the newest state.
 */
export class ListWatchers<Found extends FoundResource, Message> implements FeedReader {
  readonly kind: ResourceChangeTable["kind"];
  readonly #node: NodeWatches;
  readonly #list: WatchedList<Found, Message>;
  /** The watches by account and by the text of their filter. */
  readonly #groups = new Map<string, Map<string, Group<Found, Message>>>();

  constructor(node: NodeWatches, list: WatchedList<Found, Message>) {
    this.kind = list.kind;
    this.#node = node;
    this.#list = list;
    node.feed.add(this);
    const { stopping } = node;
    stopping.addEventListener("abort", () => this.failed(stopping.reason));
  }

  /**
   * Yields the messages of `first`, then a message for each change, and the empty message if
   * nothing changes for a while. A message counts as unread until the next one is requested. Ends
   * only with an error: resource_exhausted if the account watches too much or does not read.
   */
  async *watch(
    call: {
      readonly accountId: string;
      readonly filter: WatchFilter<Found>;
      readonly signal: AbortSignal;
    },
    first: (watcher: ListWatcher<Message>) => AsyncIterable<FirstPart<Message>>,
  ): AsyncGenerator<Message, void, undefined> {
    const { accountId, filter, signal } = call;
    signal.throwIfAborted();
    const { stopping, feed, turns, repeatMs } = this.#node;
    stopping.throwIfAborted();
    using _place = this.#node.enter(accountId);
    using watcher = new ListWatcher<Message>(accountId, signal, this.#node.held);
    const leave = this.#enter(watcher, filter);
    try {
      // What changes from here on is reported, even if the first messages do not show it yet.
      await feed.begin();
      watcher.clear();
      for await (const part of first(watcher)) yield* this.#send(part, watcher);
      for (;;) {
        const part = await watcher.next(repeatMs);
        yield* this.#send(part ?? this.#part(accountId, [], []), watcher);
      }
    } catch (error) {
      // A thousand streams may be refused at the same moment.
      if (!signal.aborted) await turns.next(accountId);
      throw error;
    } finally {
      leave();
    }
  }

  accounts(): Iterable<string> {
    return this.#groups.keys();
  }

  async changed(changes: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const ids = [...changes].flatMap(([accountId, own]) =>
      this.#groups.has(accountId) ? own : [],
    );
    const found = new Map<string, Found>();
    for (let at = 0; at < ids.length; at += foundAtOnce) {
      const some = await this.#list.find(ids.slice(at, at + foundAtOnce));
      for (const each of some) found.set(each.id, each);
    }
    const groups = [...changes].flatMap(([accountId, own]) =>
      Array.from(this.#groups.get(accountId)?.values() ?? [], (group) => ({
        group,
        changed: own.map((id) => found.get(id) ?? id),
      })),
    );
    const parts = await mapInTurns(groups, ({ group, changed }) => this.#partsFor(group, changed));
    const notices = groups.flatMap(({ group }, at) =>
      Array.from(group.watchers, (watcher) => ({ watcher, parts: parts[at] ?? [] })),
    );
    await mapInTurns(notices, ({ watcher, parts: news }) => {
      if (news.length > 0) watcher.take(news, this.#divide(watcher.accountId));
    });
  }

  failed(error: unknown): void {
    for (const groups of this.#groups.values()) {
      for (const { watchers } of groups.values()) {
        for (const watcher of watchers) watcher.end(error);
      }
    }
  }

  async *#send(
    part: FirstPart<Message>,
    watcher: ListWatcher<Message>,
  ): AsyncGenerator<Message, void, undefined> {
    const { accountId, signal } = watcher;
    const { room, turns } = this.#node;
    const msMax = watcher.hasSent ? roomMsMax.later : roomMsMax.first;
    using _held = await room.take(accountId, copies * part.bytes, { msMax, signal });
    const message = await watcher.read(() => part.message());
    await turns.next(accountId);
    signal.throwIfAborted();
    watcher.hasSent = true;
    yield message;
  }

  #enter(watcher: ListWatcher<Message>, filter: WatchFilter<Found>): () => void {
    const { accountId } = watcher;
    const groups = this.#groups.get(accountId) ?? new Map<string, Group<Found, Message>>();
    this.#groups.set(accountId, groups);
    const group = groups.get(filter.text) ?? { accountId, filter, watchers: new Set() };
    groups.set(filter.text, group);
    group.watchers.add(watcher);
    return () => {
      group.watchers.delete(watcher);
      if (group.watchers.size === 0) groups.delete(filter.text);
      if (groups.size === 0) this.#groups.delete(accountId);
    };
  }

  /** Returns the parts about changed resources; those that are gone are given as their id. */
  #partsFor(
    { accountId, filter }: Group<Found, Message>,
    changed: readonly (Found | string)[],
  ): readonly ListPart<Message>[] {
    const matching: Found[] = [];
    const removed: string[] = [];
    for (const each of changed) {
      if (typeof each === "string") removed.push(each);
      else if (each.accountId === accountId && filter.matches(each)) matching.push(each);
      else removed.push(each.id);
    }
    return this.#divide(accountId)(matching, removed);
  }

  #divide(accountId: string) {
    return (found: readonly Sized[], removed: readonly string[]): readonly ListPart<Message>[] => {
      const parts = Array.from(divided(found), (part) => this.#part(accountId, part, []));
      if (!this.#list.namesRemoved || removed.length === 0) return parts;
      return [this.#part(accountId, [], removed), ...parts];
    };
  }

  #part(accountId: string, found: readonly Sized[], removed: readonly string[]) {
    return new ListPart<Message>(found, removed, (ids, gone) =>
      this.#list.read(accountId, ids, gone),
    );
  }
}

/** The watches of one account with one filter. */
interface Group<Found, Message> {
  readonly accountId: string;
  readonly filter: WatchFilter<Found>;
  readonly watchers: Set<ListWatcher<Message>>;
}
