import { setMaxListeners } from "node:events";
import { PassThrough } from "node:stream";
import { run } from "node:test";
import type { TestEvent } from "node:test/reporters";
import { setTimeout as sleep } from "node:timers/promises";

/** The options of run() of node:test that all runs of the files share. */
export type RunOptions = Omit<Parameters<typeof run>[0] & {}, "files" | "concurrency">;

/** How many files run concurrently. */
export interface Concurrency {
  /** That many always run, as long as there are files. */
  readonly least: number;
  /** Up to that many run while `isRoom` is true. */
  readonly most: number;
  /** Whether the machine has had room for one more file since the previous call. */
  readonly isRoom: () => boolean;
  /**
   * How long the machine is watched before a further file starts, so that the one before it already
   * takes what it needs.
   */
  readonly watchMs: number;
}

/**
 * Runs test files in their order, each by a run() of its own, since run() has a fixed concurrency.
 * Returns the events of node:test, those of a file together once it has ended.
 */
export function runEach(
  files: readonly string[],
  concurrency: Concurrency,
  options: RunOptions,
): PassThrough {
  const { least, most } = concurrency;
  const events = new PassThrough({ objectMode: true, highWaterMark: 100_000 });
  const running = new Set<Promise<void>>();
  // Each run() listens to the signal.
  if (options.signal) setMaxListeners(0, options.signal);
  const start = (file: string) => {
    const ended = runFile(file, options).then((ofFile) => {
      running.delete(ended);
      for (const event of ofFile) events.write(event);
    });
    running.add(ended);
  };
  const runAll = async () => {
    for (const file of files) {
      while (running.size >= least) {
        if (await hasRoom(running, running.size < most ? concurrency : undefined)) break;
      }
      if (options.signal?.aborted) break;
      start(file);
    }
    await Promise.all(running);
    events.end();
  };
  runAll().catch((error: unknown) => events.destroy(error instanceof Error ? error : undefined));
  return events;
}

/**
 * Watches the machine until a file has ended, and returns false then, or until watchMs are over,
 * and returns whether there was room. Without `watch`, waits until a file has ended.
 */
async function hasRoom(
  running: ReadonlySet<Promise<void>>,
  watch: Concurrency | undefined,
): Promise<boolean> {
  const ended = Promise.race(running).then(() => false);
  if (!watch) return await ended;
  const { watchMs, isRoom } = watch;
  isRoom();
  const over = new AbortController();
  const watched = sleep(watchMs, true, { signal: over.signal }).then(isRoom, () => false);
  try {
    return await Promise.race([ended, watched]);
  } finally {
    over.abort();
  }
}

async function runFile(file: string, options: RunOptions): Promise<TestEvent[]> {
  return await Array.fromAsync<TestEvent>(run({ ...options, files: [file], concurrency: 1 }));
}
