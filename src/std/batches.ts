/**
 * Collects the items that arrive while a batch runs into the next batch. A single item does not
 * wait, and many items share the cost of a transaction. Results have the order of the items. If a
 * batch of several items fails, its items are retried one by one, unless `isSharedFailure` states
 * that each of them would fail in the same way.
 */
export class Batches<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #itemsMax: number;
  readonly #isSharedFailure: (error: unknown) => boolean;
  #waiting: Asked<Item, Result>[] = [];
  #isWorking = false;

  constructor(
    work: (items: readonly Item[]) => Promise<readonly Result[]>,
    options: {
      readonly itemsMax: number;
      readonly isSharedFailure: (error: unknown) => boolean;
    },
  ) {
    this.#work = work;
    this.#itemsMax = options.itemsMax;
    this.#isSharedFailure = options.isSharedFailure;
  }

  /** Returns the result for the item; rejects with the item's failure. */
  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isWorking) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isWorking = true;
    // Items that are added in this turn of the event loop join the batch.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#itemsMax);
      await this.#do(batch);
    }
    this.#isWorking = false;
  }

  async #do(batch: readonly Asked<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#work(batch.map(({ item }) => item));
      if (results.length !== batch.length)
        throw new Error("a batch returned another number of results than it has items");
      results.forEach((result, index) => batch[index]?.resolve(result));
    } catch (error) {
      if (batch.length === 1 || this.#isSharedFailure(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      for (const each of batch) await this.#do([each]);
    }
  }
}

interface Asked<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
