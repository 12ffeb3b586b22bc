import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import process from "node:process";
import type { FromFront, FrontStart, Queue, ScrapeReply, ScrapeRequest } from "./front-messages.ts";
import { isFromFront, type ToFront } from "./front-messages.ts";
import type { ConnectionTaker } from "./shared-port.ts";

/** The program of a front process. */
const ownProgram = join(import.meta.dirname, "../serve-front.ts");
/**
 * The intervals of the signs of life after which a front process gets no more connections, and
 * after which it is taken for hung.
 */
const quietBeats = 4;
const hungBeats = 60;
const beatMs = 1_000;
/**
 * How long a front process may take until it serves. It needs 2 s of CPU time, and a machine that
 * is busy may let it wait for them.
 */
const startMsMaxDefault = 180_000;
/** How long a front process may take to return its metrics. */
const measureMsMax = 2_000;

/** What a front process reports to the main process. */
export interface FrontEvents {
  /** The number of connections that it can take has changed. */
  takes(): void;
  /** A connection that the front process did not get, because it has ended. */
  returned(socket: Socket): void;
  arrived(queue: Queue): void;
  /** It makes no progress, and is killed. `problem` is what was missed. */
  hung(problem: string): void;
  scrape(request: ScrapeRequest): Promise<ScrapeReply>;
}

/** How a front process is started, if not as the service does. */
export interface FrontProgram {
  /** The file of the program. Default: that of the service. */
  readonly program?: string;
  /** How long it may take until it serves. Default: startMsMaxDefault. */
  readonly startMsMax?: number;
}

/** A front process as the main process sees it: a child process that serves connections. */
export class FrontProcess implements ConnectionTaker {
  readonly number: number;
  readonly startedAt = performance.now();
  /**
   * Resolves when the front process serves; rejects with the reason if it ends before, as it does
   * when it takes too long.
   */
  readonly ready: Promise<void>;
  /** Resolves to the signal or exit code when the process has ended. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #events: FrontEvents;
  /** The connections that were sent and not yet received. */
  readonly #sent = new Map<number, Socket>();
  readonly #measuring = new Map<number, (families: readonly object[]) => void>();
  readonly #beats: NodeJS.Timeout;
  #lastId = 0;
  #open = 0;
  #openStreams = 0;
  /** Beats are counted instead of time, since none happen while this process is suspended. */
  #silentBeats = 0;
  readonly #startBeats: number;
  #beatsBeforeReady = 0;
  #isReady = false;
  #isEnding = false;
  #isGivenUp = false;
  #failure = "";
  /** The metrics as they were read last. */
  #families: readonly object[] = [];

  constructor(
    start: FrontStart,
    environment: NodeJS.ProcessEnv,
    events: FrontEvents,
    { program = ownProgram, startMsMax = startMsMaxDefault }: FrontProgram = {},
  ) {
    this.number = start.front;
    this.#events = events;
    this.#startBeats = Math.ceil(startMsMax / beatMs);
    const child = fork(program, [], {
      env: environment,
      execArgv: process.execArgv,
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child = child;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    ready.promise.catch(() => {});
    child.on("message", (message) => {
      if (isFromFront(message)) this.#take(message);
      if (this.#isReady) ready.resolve();
    });
    this.exited = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
    });
    this.#beats = setInterval(() => this.#beat(), beatMs);
    void this.exited.then((how) => {
      this.#isEnding = true;
      clearInterval(this.#beats);
      for (const resolve of this.#measuring.values()) resolve(this.#families);
      ready.reject(new Error(this.#failure || `a front process ended with ${how}`));
      const lost = [...this.#sent.values()];
      this.#sent.clear();
      for (const socket of lost) events.returned(socket);
    });
    this.#send(start);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether it was killed because it did not serve in time. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  get connections(): number {
    return this.#open + this.#sent.size;
  }

  get isTaking(): boolean {
    return this.#isReady && !this.#isEnding && this.#silentBeats < quietBeats;
  }

  /** The metrics as they were read last. */
  get families(): readonly object[] {
    return this.#families;
  }

  /** Sends a connection, which this process keeps until the front process has received it. */
  take(socket: Socket): void {
    const id = (this.#lastId += 1);
    this.#sent.set(id, socket);
    this.#send({ kind: "connection", id }, socket);
  }

  leave(): void {
    this.#send({ kind: "leave" });
  }

  reload(): void {
    this.#send({ kind: "reload" });
  }

  /**
   * Drains the front process, which then ends. With `isReplaced`, it gets no more connections, and
   * answers the calls of those that it has.
   */
  drain(msMax: number, isReplaced: boolean): void {
    if (isReplaced) this.#isEnding = true;
    this.#send({ kind: "drain", msMax, isReplaced });
  }

  hurry(): void {
    this.#send({ kind: "hurry" });
  }

  close(): void {
    this.#send({ kind: "close" });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Returns the metrics of the front process; those that were read last if it has none. */
  async measure(): Promise<readonly object[]> {
    if (!this.#isReady || !this.#child.connected) return this.#families;
    const id = (this.#lastId += 1);
    const { promise, resolve } = Promise.withResolvers<readonly object[]>();
    const timer = setTimeout(() => resolve(this.#families), measureMsMax);
    this.#measuring.set(id, resolve);
    this.#send({ kind: "measure", id });
    const families = await promise;
    clearTimeout(timer);
    this.#measuring.delete(id);
    return families;
  }

  #take(message: FromFront): void {
    const wasTaking = this.isTaking;
    this.#silentBeats = 0;
    switch (message.kind) {
      case "ready":
        this.#isReady = true;
        break;
      case "failed":
        this.#failure = message.message;
        break;
      case "use":
        this.#openStreams = message.openStreams;
        break;
      case "connections":
        this.#open = message.open;
        for (const id of message.received) {
          // This closes only the descriptor of this process.
          this.#sent.get(id)?.destroy();
          this.#sent.delete(id);
        }
        break;
      case "closing":
        this.#isEnding = true;
        break;
      case "arrived":
        this.#events.arrived(message.queue);
        break;
      case "measured":
        this.#families = message.families ?? this.#families;
        this.#measuring.get(message.id)?.(this.#families);
        break;
      case "scrape":
        void this.#answer(message.id, message.request);
        break;
    }
    if (!wasTaking && this.isTaking) this.#events.takes();
  }

  async #answer(id: number, request: ScrapeRequest): Promise<void> {
    this.#send({ kind: "scraped", id, reply: await this.#events.scrape(request) });
  }

  #beat(): void {
    this.#silentBeats += 1;
    if (this.#isReady) {
      if (this.#silentBeats === hungBeats) this.#giveUp(`it sent nothing for ${hungBeats} s`);
      return;
    }
    this.#beatsBeforeReady += 1;
    if (this.#beatsBeforeReady !== this.#startBeats) return;
    this.#isGivenUp = true;
    this.#failure = `front process ${this.number} did not serve within ${this.#startBeats} s`;
    this.#giveUp(`it did not serve within ${this.#startBeats} s`);
  }

  #giveUp(problem: string): void {
    this.#events.hung(problem);
    this.kill();
  }

  #send(message: ToFront, socket?: Socket): void {
    // The exit of the front process is noticed elsewhere.
    const ignore = () => {};
    if (!this.#child.connected) return;
    if (socket) this.#child.send(message, socket, { keepOpen: true }, ignore);
    else this.#child.send(message, ignore);
  }
}
