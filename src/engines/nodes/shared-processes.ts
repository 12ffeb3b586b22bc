import type { UseByOthers } from "../pool/child-load.ts";
import type { EngineChild } from "../pool/engine-child.ts";
import type { LoadableModel } from "../pool/loadable-models.ts";
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
}

/** The processes of an engine node, which it shares with all of its clients. */
export class SharedProcesses {
  readonly #models = new Map<EngineChild, LoadableModel>();
  readonly #clients = new Set<ProcessesClient>();
  #isLeaving = false;

  /** Shares a process until it ends. */
  add(child: EngineChild, model: LoadableModel): void {
    this.#models.set(child, model);
    child.observer = {
      loaded: (report) => this.#report((client) => client.loaded(child, report)),
      working: (session) => this.#report((client) => client.working(child, session)),
    };
    this.#report((client) => client.ready(child, model));
    void child.exited.then((how) => {
      this.#models.delete(child);
      this.#report((client) => client.gone(child, how));
    });
  }

  /** Reports that a process accepts no more sessions. */
  retire(child: EngineChild): void {
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
    const sum = (pick: (use: UseByOthers) => number) =>
      uses.reduce((total, use) => total + pick(use), 0);
    return {
      sessions: sum(({ sessions }) => sessions),
      liveDemand: sum(({ liveDemand }) => liveDemand),
      fullDemand: sum(({ fullDemand }) => fullDemand),
      seconds: {
        live: sum(({ seconds }) => seconds.live),
        short: sum(({ seconds }) => seconds.short),
        job: sum(({ seconds }) => seconds.job),
      },
    };
  }

  #report(event: (client: ProcessesClient) => void): void {
    for (const client of this.#clients) event(client);
  }
}
