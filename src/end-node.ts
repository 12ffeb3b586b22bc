import { setTimeout as sleep } from "node:timers/promises";
import type { Wyoming } from "./dialects/wyoming/open-wyoming.ts";
import type { FrontProcesses } from "./fronts/front-processes.ts";
import type { Server } from "./server/server.ts";
import { errorFields, type Log } from "./std/log.ts";
import { ServiceError } from "./std/service-error.ts";
import type { NodeWatches } from "./watches/node-watches.ts";
import type { KeptSockets } from "./kept-sockets.ts";

/** How a node ends: it leaves, drains, and is disposed of. */
export interface NodeEnd extends AsyncDisposable {
  /**
   * Prepares for the shutdown: from now on, health checks report "not ready", and no more jobs are
   * leased. Calls are answered as before.
   */
  leave(): void;
  /**
   * Refuses new calls and streams, ends watches, and waits for the other calls and streams that are
   * open: see Server.drain(). If the process `isReplaced` by another one of its node, calls are
   * answered: see Server.retire(). On a listener whose socket is kept, new calls and streams are
   * answered as well, until no stream is open.
   */
  drain(msMax: number, hurried: AbortSignal, isReplaced?: boolean): Promise<void>;
}

/** Returns how a node ends. */
export function endOf(
  parts: AsyncDisposable,
  {
    workers,
    ...doors
  }: Parameters<typeof drainNode>[0] & { readonly workers: readonly AsyncDisposable[] },
): NodeEnd {
  return {
    leave: () => leaveNode(doors, workers, doors.log),
    drain: (...limits) => drainNode(doors, ...limits),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

/** Takes a node out of service: see App.leave(). */
function leaveNode(
  { server, fronts }: Pick<Parameters<typeof drainNode>[0], "server" | "fronts">,
  workers: readonly AsyncDisposable[],
  log: Log,
): void {
  server.leave();
  fronts?.leave();
  // The workers are disposed of again with the other parts, which then wait for them.
  for (const worker of workers) {
    Promise.resolve(worker[Symbol.asyncDispose]()).catch((error: unknown) => {
      log.error(errorFields(error), "worker.stop_failed");
    });
  }
}

/**
 * Drains a node: see App.drain(). Watches would last as long as the node does, and their clients
 * open them again without a loss, so they do not hold it.
 */
async function drainNode(
  {
    server,
    fronts,
    wyoming,
    watches,
    kept,
    openStreams,
    log,
  }: {
    readonly server: Server;
    readonly fronts: FrontProcesses | undefined;
    readonly wyoming: Wyoming | undefined;
    readonly watches: NodeWatches;
    /** The listeners that systemd keeps open. */
    readonly kept: KeptSockets;
    /** Returns the number of open live streams, with those of front processes. */
    readonly openStreams: () => number;
    readonly log: Log;
  },
  msMax: number,
  hurried: AbortSignal,
  isReplaced = false,
): Promise<void> {
  const countStreams = async () => (openStreams() || (await fronts?.measure()), openStreams());
  // Both listeners share the wait, which states in the log how many streams are open.
  const isKept = kept.port !== undefined || kept.wyoming !== undefined;
  const streamsEnded = isKept && untilNoStream(countStreams, { msMax, hurried, log });
  const drainPort = async () => {
    endWatches(watches);
    const end = isReplaced ? server.retire(msMax, hurried) : server.drain(msMax, hurried);
    await Promise.all([end, fronts?.drain(msMax, hurried)]);
  };
  await Promise.all([
    kept.port === undefined && drainPort(),
    kept.wyoming === undefined && wyoming?.drain(msMax, hurried),
    streamsEnded,
  ]);
}

/** How often open streams are counted, and how often the log states their number. */
const countMs = 100;
const countLogMs = 30_000;

/**
 * Waits until no stream is open, for at most `msMax`, or until `hurried` aborts. Streams that are
 * left end together: their clients open them again at the next process, which is not there yet.
 */
async function untilNoStream(
  countStreams: () => Promise<number>,
  {
    msMax,
    hurried,
    log,
  }: { readonly msMax: number; readonly hurried: AbortSignal; readonly log: Log },
): Promise<void> {
  const endAt = performance.now() + msMax;
  for (let logAt = performance.now(); ;) {
    const streams = await countStreams();
    const now = performance.now();
    if (now >= logAt) {
      log.info({ streams, secondsMax: msMax / 1000, isAnswering: true }, "service.draining");
      logAt = now + countLogMs;
    }
    if (streams === 0 || hurried.aborted || now >= endAt) return;
    await sleep(Math.min(countMs, endAt - now), undefined, { signal: hurried }).catch(() => {});
  }
}

export function endWatches(watches: NodeWatches): void {
  watches.stop(new ServiceError("unavailable", "the service is shutting down"));
}
