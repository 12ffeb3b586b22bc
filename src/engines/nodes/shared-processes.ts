import { rm } from "node:fs/promises";
import { join } from "node:path";
import { noUse, type UseByOthers } from "../pool/child-load.ts";
import { sessionNumbers } from "../pool/child-sessions.ts";
import type { EngineChild } from "../pool/engine-child.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
import type { ListenAt } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";

/** A client of this engine node, to which it reports its processes. */
export interface ProcessesClient {
  /** The sessions that the client has in the processes of this node. */
  readonly sessions: number;
  ready(child: EngineChild, model: LoadableModel): void;
  retiring(child: EngineChild): void;
  gone(child: EngineChild, how: string): void;
  loaded(child: EngineChild, report: LoadReport): void;
  working(child: EngineChild, session: number): void;
  leaving(): void;
  /** What the client does with a process, as it has reported. */
  useOf(child: EngineChild): UseByOthers | undefined;
  /** The numbers of its sessions, among those of all clients, that it has in each process. */
  readonly place: number;
}

/** The clients that may be connected to engine processes, whose numbers have 32 bits. */
const placesMax = 2 ** 32 / sessionNumbers - 1;

/** How a client reaches a process without this one. */
export interface DirectAccess extends ListenAt {
  readonly numbersFrom: number;
}

/** The processes of an engine node, which it shares with all of its clients. */
export class SharedProcesses {
  readonly #models = new Map<EngineChild, LoadableModel>();
  readonly #clients = new Set<ProcessesClient>();
  /** Where each process listens for front processes. */
  readonly #listening = new Map<EngineChild, ListenAt>();
  #listensIn: { readonly folder: string; readonly credential: string } | undefined;
  #listens = 0;
  #lastPlace = 0;
  readonly #retired = new WeakSet<EngineChild>();
  #isLeaving = false;

  /**
   * Lets all processes listen for front processes in a folder, with names that begin with
   * `process-`. Resolves when those that there are now listen.
   */
  async listenIn(folder: string, credential: string): Promise<void> {
    this.#listensIn = { folder, credential };
    await Promise.all(Array.from(this.#models, ([child, model]) => this.#listen(child, model)));
  }

  /** Shares a process until it ends. */
  add(child: EngineChild, model: LoadableModel): void {
    if (this.#listensIn) void this.#listen(child, model).then(() => this.#add(child, model));
    else this.#add(child, model);
  }

  async #listen(child: EngineChild, { source }: LoadableModel): Promise<void> {
    // A diarizer works for jobs only.
    if (!this.#listensIn || source.engine === "diarizer") return;
    const { folder, credential } = this.#listensIn;
    this.#listens += 1;
    const at = { socketPath: join(folder, `process-${this.#listens}`), credential };
    // The kernel keeps the names of sockets.
    void child.exited.then(() => rm(at.socketPath, { force: true })).catch(() => {});
    if (await child.listen(at)) this.#listening.set(child, at);
  }

  /** Returns how a client reaches a process itself; undefined if it does not. */
  directAccess({ place }: ProcessesClient, child: EngineChild): DirectAccess | undefined {
    const at = this.#listening.get(child);
    return at && place > 0 ? { ...at, numbersFrom: place * sessionNumbers } : undefined;
  }

  /**
   * Returns a place that no client has; 0 if there is none. Places are given out in turn: a client
   * that is given up may still be connected to processes, with sessions that have its numbers.
   */
  freePlace(): number {
    if (!this.#listensIn) return 0;
    const taken = new Set(Array.from(this.#clients, ({ place }) => place));
    for (let tried = 0; tried < placesMax; tried += 1) {
      this.#lastPlace = (this.#lastPlace % placesMax) + 1;
      if (!taken.has(this.#lastPlace)) return this.#lastPlace;
    }
    return 0;
  }

  /** Counts what front processes do with a process, without this one, as its use by others. */
  countDirect(child: EngineChild): void {
    if (!this.#listening.has(child)) return;
    const uses = Array.from(this.#clients, (each) => each.place > 0 && each.useOf(child));
    child.others = sumOf(uses.filter((use) => typeof use === "object"));
  }

  #add(child: EngineChild, model: LoadableModel): void {
    if (child.hasExited || this.#retired.has(child)) return;
    this.#models.set(child, model);
    child.observer = {
      loaded: (report) => this.#report((client) => client.loaded(child, report)),
      working: (session) => this.#report((client) => client.working(child, session)),
    };
    this.#report((client) => client.ready(child, model));
    void child.exited.then((how) => {
      this.#models.delete(child);
      this.#listening.delete(child);
      this.#report((client) => client.gone(child, how));
    });
  }

  /** Reports that a process accepts no more sessions. */
  retire(child: EngineChild): void {
    this.#retired.add(child);
    if (this.#models.has(child)) this.#report((client) => client.retiring(child));
  }

  /** Adds a client, and reports all processes to it. */
  join(client: ProcessesClient): void {
    this.#clients.add(client);
    for (const [child, model] of this.#models) client.ready(child, model);
    if (this.#isLeaving) client.leaving();
  }

  part(client: ProcessesClient): void {
    this.#clients.delete(client);
    for (const child of this.#listening.keys()) this.countDirect(child);
  }

  /** Reports that the node is being stopped. */
  leave(): void {
    this.#isLeaving = true;
    this.#report((client) => client.leaving());
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** The sessions of all clients. */
  get sessions(): number {
    return this.#clients.values().reduce((sum, { sessions }) => sum + sessions, 0);
  }

  /** Returns what all other clients do with a process. */
  useByOthers(than: ProcessesClient, child: EngineChild): UseByOthers {
    const uses = [...this.#clients].flatMap((each) =>
      each === than ? [] : (each.useOf(child) ?? []),
    );
    // Otherwise the sessions that are passed on are among its own.
    if (this.#listening.has(child)) uses.push(child.ownUse);
    return sumOf(uses);
  }

  #report(event: (client: ProcessesClient) => void): void {
    for (const client of this.#clients) event(client);
  }
}

function sumOf(uses: readonly UseByOthers[]): UseByOthers {
  return uses.reduce(
    (total, { sessions, liveDemand, fullDemand, seconds }) => ({
      sessions: total.sessions + sessions,
      liveDemand: total.liveDemand + liveDemand,
      fullDemand: total.fullDemand + fullDemand,
      seconds: {
        live: total.seconds.live + seconds.live,
        short: total.seconds.short + seconds.short,
        job: total.seconds.job + seconds.job,
      },
    }),
    noUse,
  );
}
