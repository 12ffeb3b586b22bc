import { setTimeout as pause } from "node:timers/promises";

/**
 * The last part of a drain, in which streams that are still open are ended one after another. It
 * takes at most a third of the drain.
 */
const spreadMsMax = 10_000;

/**
 * Waits until `open` resolves, for at most `msMax`. In the last part of this time, ends the streams
 * that are left one after another, evenly, so that their clients do not all reconnect at the same
 * moment. Returns at once when `hurried` aborts. `streams` returns a function for each stream that
 * is open, which ends it.
 */
export async function drainStreams(
  open: Promise<unknown>,
  streams: () => readonly (() => void)[],
  { msMax, hurried }: { readonly msMax: number; readonly hurried: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  const whenEnded = open.finally(() => ended.abort());
  const signal = AbortSignal.any([ended.signal, hurried]);
  const wait = async (ms: number): Promise<void> => {
    if (ms > 0) await pause(ms, undefined, { signal }).catch(() => {});
  };
  const spreadMs = Math.min(spreadMsMax, msMax / 3);
  await wait(msMax - spreadMs);
  const beganMs = performance.now();
  const ends = signal.aborted ? [] : streams();
  for (const [at, end] of ends.entries()) {
    if (signal.aborted) break;
    end();
    await wait(((at + 1) * spreadMs) / ends.length - (performance.now() - beganMs));
  }
  await wait(spreadMs - (performance.now() - beganMs));
  if (ended.signal.aborted) await whenEnded;
}
