import { LRUCache } from "lru-cache";
import type { Hint } from "../protocol/engine.ts";

/** The number of lists that are kept. What engines compute for a list can take some megabytes. */
const listsMax = 32;

/**
 * Makes equal lists of hints one object, by which engines keep what they compute for a list:
 * sessions of an account have the same vocabulary, whose search takes longer to build than all else
 * that opens a session.
 */
export class SharedHints {
  readonly #lists = new LRUCache<string, readonly Hint[]>({ max: listsMax });

  share(hints: readonly Hint[]): readonly Hint[] {
    const key = JSON.stringify(hints);
    const known = this.#lists.get(key);
    if (known) return known;
    this.#lists.set(key, hints);
    return hints;
  }
}
