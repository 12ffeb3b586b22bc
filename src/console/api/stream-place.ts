/**
 * The streams that the tabs of a browser have open at a time, besides the one of jobs. Over
 * HTTP/1.1 a browser has six connections to the service, and calls and uploads need some of them.
 */
const placesMax = 2;

/**
 * Waits for a place among the streams of this browser's tabs, and holds it until `use` resolves.
 * `signal` ends the wait.
 */
export async function withStreamPlace(
  signal: AbortSignal,
  use: () => Promise<void>,
): Promise<void> {
  const { held = [], pending = [] } = await navigator.locks.query();
  const names = Array.from({ length: placesMax }, (_, at) => `hlust.stream-place ${at}`);
  const load = (name: string): number =>
    [...held, ...pending].filter((lock) => lock.name === name).length;
  const [freest] = names.toSorted((a, b) => load(a) - load(b));
  if (freest === undefined || signal.aborted) return;
  await navigator.locks.request(freest, { signal }, use).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
