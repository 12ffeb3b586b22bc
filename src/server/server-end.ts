import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../std/log.ts";
import { drainStreams } from "./drain-streams.ts";
import { createDraining, type Draining } from "./draining.ts";
import type { Port } from "./port.ts";
import { shuttingDown } from "./shutting-down.ts";
import type { WebSocketDoor } from "./websocket.ts";

/**
 * The maximum time for calls in flight when the service shuts down. After this time, the calls end
 * with an error, and `abortMs` later their connections are closed.
 */
const drainMsMax = 15_000;
const abortMs = 500;
/**
 * How long the server of a replaced process keeps connections without a call, whose clients may be
 * about to make one. Each answer asks them to close the connection.
 */
const idleMsMax = 5_000;
const idleCheckMs = 50;
/** How often the log states what a drain waits for. */
const drainLogMs = 30_000;

/** The parts of a server whose calls and streams end when it shuts down. */
interface ServerDoors {
  readonly port: Port;
  readonly sockets: WebSocketDoor;
}

/** How a server ends: it leaves, refuses new calls while open ones end, and closes. */
export class ServerEnd {
  /** Aborts when health checks report the shutdown. */
  readonly leaving = new AbortController();
  /** Aborts when the watches of health end, which never end by themselves. */
  readonly retiring = new AbortController();
  /** Aborts the calls that are left. */
  readonly shutdown = new AbortController();
  readonly draining: Draining = createDraining();
  readonly #log: Log;
  #refuses = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Whether doors refuse new calls. A server that closes without a drain answers them. */
  get refuses(): boolean {
    return this.#refuses;
  }

  /** See Server.drain(). */
  async drain(
    { port, sockets }: ServerDoors,
    limits: { readonly msMax: number; readonly hurried: AbortSignal },
  ): Promise<void> {
    this.leaving.abort();
    this.retiring.abort();
    this.#refuses = true;
    this.draining.refuse();
    const ended = Promise.all([port.retire(), sockets.refuse()]);
    const streams = () => [...this.draining.ends(), ...sockets.ends()];
    const logOpen = () => {
      const open = { calls: port.callsInFlight(), sockets: sockets.ends().length };
      this.#log.info({ ...open, secondsMax: limits.msMax / 1000 }, "service.draining");
    };
    logOpen();
    const logging = setInterval(logOpen, drainLogMs);
    await drainStreams(ended, streams, limits);
    clearInterval(logging);
  }

  /** See Server.retire(). */
  async retire(
    { port, sockets }: ServerDoors,
    limits: { readonly msMax: number; readonly hurried: AbortSignal },
  ): Promise<void> {
    this.retiring.abort();
    void port.retire();
    const streams = () => [...this.draining.ends(), ...sockets.ends()];
    const checking = new AbortController();
    const ended = this.#untilIdle({ port, sockets }, checking.signal);
    await drainStreams(ended, streams, limits);
    checking.abort();
  }

  async #untilIdle({ port, sockets }: ServerDoors, stop: AbortSignal): Promise<void> {
    const idleAt = performance.now() + idleMsMax;
    while (!stop.aborted) {
      const isBusy = port.callsInFlight() > 0 || sockets.ends().length > 0;
      if (!isBusy && (port.connections() === 0 || performance.now() >= idleAt)) return;
      await sleep(idleCheckMs, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** Ends the streams that are left and waits for the calls in flight: see openServer(). */
  async close({ port, sockets }: ServerDoors): Promise<void> {
    this.leaving.abort();
    this.retiring.abort();
    this.draining.drain();
    const endCalls = setTimeout(() => {
      this.shutdown.abort(shuttingDown("call"));
    }, drainMsMax);
    const cut = setTimeout(() => {
      sockets.terminate();
      port.close();
    }, drainMsMax + abortMs);
    await port.drain(sockets.drain());
    clearTimeout(endCalls);
    clearTimeout(cut);
  }
}
