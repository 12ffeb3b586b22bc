/**
 * The maximum time for which a list may occupy the thread before other events run, because live
 * audio waits for them.
 */
const turnMs = 8;

/** Maps items in order. Lets the event loop run whenever the work has taken `turnMs`. */
export async function mapInTurns<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let turnEnd = performance.now() + turnMs;
  for (const item of items) {
    if (performance.now() >= turnEnd) {
      await new Promise(setImmediate);
      turnEnd = performance.now() + turnMs;
    }
    results.push(map(item));
  }
  return results;
}
