import type { Wyoming } from "./dialects/wyoming/open-wyoming.ts";
import type { FrontProcesses } from "./fronts/front-processes.ts";
import type { Server } from "./server/server.ts";
import { errorFields, type Log } from "./std/log.ts";
import { ServiceError } from "./std/service-error.ts";
import type { NodeWatches } from "./watches/node-watches.ts";

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
   * answered: see Server.retire().
   */
  drain(msMax: number, hurried: AbortSignal, isReplaced?: boolean): Promise<void>;
}

/** Returns how a node ends. */
export function endOf(
  parts: AsyncDisposable,
  {
    workers,
    log,
    ...doors
  }: Parameters<typeof drainNode>[0] & {
    readonly workers: readonly AsyncDisposable[];
    readonly log: Log;
  },
): NodeEnd {
  return {
    leave: () => leaveNode(doors, workers, log),
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
  }: {
    readonly server: Server;
    readonly fronts: FrontProcesses | undefined;
    readonly wyoming: Wyoming | undefined;
    readonly watches: NodeWatches;
  },
  msMax: number,
  hurried: AbortSignal,
  isReplaced = false,
): Promise<void> {
  endWatches(watches);
  const end = isReplaced ? server.retire(msMax, hurried) : server.drain(msMax, hurried);
  await Promise.all([end, fronts?.drain(msMax, hurried), wyoming?.drain(msMax, hurried)]);
}

export function endWatches(watches: NodeWatches): void {
  watches.stop(new ServiceError("unavailable", "the service is shutting down"));
}
