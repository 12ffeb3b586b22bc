/** How long a list may keep the thread before other events run: live audio waits for that. */
const turnMs = 8;

/** Maps items in order, and lets the event loop run whenever that has taken `turnMs`. */
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
