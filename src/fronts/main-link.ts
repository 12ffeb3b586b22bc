import { Socket } from "node:net";
import process from "node:process";
import type { FromFront, FrontStart, Queue, ScrapeReply, ScrapeRequest } from "./front-messages.ts";
import { isToFront, type ToFront } from "./front-messages.ts";
import { HandedConnections } from "./handed-connections.ts";

/** How long changes of the number of connections are gathered. */
const gatherMs = 20;
const beatMs = 1_000;

/** What the main process asks a front process to do. */
export interface FrontTasks {
  leave(): void;
  /** See App.drain(). */
  drain(msMax: number, isReplaced: boolean): void;
  hurry(): void;
  close(): void;
  reload(): void;
}

/** What a front process reports to the main process. */
export interface FrontMeasures {
  readonly openStreams: () => number;
  readonly families: () => Promise<readonly object[]>;
}

/**
 * The link of a front process to the main process, which is the IPC channel of the child process.
 */
export class MainLink {
  readonly start: FrontStart;
  readonly connections: HandedConnections;
  /** Set when the front process is open. */
  measures: FrontMeasures = { openStreams: () => 0, families: () => Promise.resolve([]) };
  /** Called when the metrics could not be read, after which the process goes on. */
  onUnread: (error: unknown) => void = () => {};
  readonly #received: number[] = [];
  readonly #scrapes = new Map<number, (reply: ScrapeReply) => void>();
  #lastScrape = 0;
  #gathering: NodeJS.Timeout | undefined;
  #tasks: FrontTasks | undefined;
  /** The messages that came before there were tasks. */
  #early: (() => void)[] = [];

  private constructor(start: FrontStart) {
    this.start = start;
    this.connections = new HandedConnections(start, () => this.#changed());
  }

  /** Waits for the first message of the main process. */
  static async open(): Promise<MainLink> {
    return await new Promise((resolve) => {
      let link: MainLink | undefined;
      process.on("message", (given, socket) => {
        if (!isToFront(given)) return;
        if (given.kind === "start") {
          link = new MainLink(given);
          resolve(link);
        } else if (link) {
          link.#take(given, socket instanceof Socket ? socket : undefined);
        }
      });
      // Without the main process there are no engines, and no more connections.
      process.on("disconnect", () => process.exit(1));
    });
  }

  /**
   * Reports that this front process serves, and does what the main process asks for from now on.
   */
  serve(tasks: FrontTasks): void {
    this.#tasks = tasks;
    this.#send({ kind: "ready" });
    setInterval(() => this.#sendUse(), beatMs);
    for (const act of this.#early.splice(0)) act();
  }

  async failed(message: string): Promise<void> {
    await new Promise<void>((resolve) => {
      process.send?.({ kind: "failed", message } satisfies FromFront, () => resolve());
    });
  }

  arrived(queue: Queue): void {
    this.#send({ kind: "arrived", queue });
  }

  /** Asks the main process for the metrics of the node. */
  async scrape(request: ScrapeRequest): Promise<ScrapeReply> {
    const id = (this.#lastScrape += 1);
    const { promise, resolve } = Promise.withResolvers<ScrapeReply>();
    this.#scrapes.set(id, resolve);
    this.#send({ kind: "scrape", id, request });
    return await promise;
  }

  #take(message: ToFront, socket: Socket | undefined): void {
    switch (message.kind) {
      case "start":
        break;
      case "connection":
        this.#received.push(message.id);
        // Without a socket, the client has left.
        if (socket) this.connections.take(socket);
        this.#report();
        break;
      case "scraped":
        this.#scrapes.get(message.id)?.(message.reply);
        this.#scrapes.delete(message.id);
        break;
      case "leave":
        this.#do((tasks) => tasks.leave());
        break;
      case "drain":
        this.#do((tasks) => tasks.drain(message.msMax, message.isReplaced));
        break;
      case "hurry":
        this.#do((tasks) => tasks.hurry());
        break;
      case "close":
        this.#do((tasks) => tasks.close());
        break;
      case "reload":
        this.#do((tasks) => tasks.reload());
        break;
      case "measure":
        void this.measure(message.id);
        break;
    }
  }

  #do(act: (tasks: FrontTasks) => void): void {
    const tasks = this.#tasks;
    if (tasks) act(tasks);
    else this.#early.push(() => this.#do(act));
  }

  /** Sends the metrics, in answer to a request or, before the end, without one. Never rejects. */
  async measure(id = 0): Promise<void> {
    const families = await this.measures.families().catch((error: unknown) => {
      this.onUnread(error);
    });
    this.#sendUse();
    this.#send({ kind: "measured", id, ...(families && { families }) });
  }

  #sendUse(): void {
    this.#send({ kind: "use", openStreams: this.measures.openStreams() });
  }

  #changed(): void {
    if (this.connections.isClosing) this.#send({ kind: "closing" });
    this.#gathering ??= setTimeout(() => this.#report(), gatherMs);
  }

  /** Reports the connections. Those that were received are reported at once. */
  #report(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    const received = this.#received.splice(0);
    this.#send({ kind: "connections", received, open: this.connections.open });
  }

  #send(message: FromFront): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }
}
