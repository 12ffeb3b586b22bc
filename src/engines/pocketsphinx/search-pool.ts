import type { DecoderMaker } from "./decoder-maker.ts";
import { Search } from "./search.ts";
import type { Pointer, SphinxLibrary, ViewFloats } from "./sphinx-library.ts";
import { sphinxSettings } from "./sphinx-settings.ts";

/** The maximum number of idle searches that are kept for reuse; one takes about 60 MB. */
const idleMax = 4;
/**
 * The maximum number of searches that are created in advance, which is the number of streams that a
 * core can serve.
 */
const reserveMax = 8;

/** Lends searches to decoders. */
export interface Searches {
  /**
   * Lends a search in which an utterance has begun; returns undefined if none is free now. Throws
   * an Error if a search could not be created.
   */
  lend(): Search | undefined;
  /** Returns a search whose utterance has ended. */
  release(search: Search): void;
}

/**
 * Searches with the same settings, each lent for an utterance. Creating one takes 250 ms, so it is
 * done on another thread.
 */
export class SearchPool implements Searches {
  readonly #library: SphinxLibrary;
  readonly #viewFloats: ViewFloats;
  readonly #maker: DecoderMaker;
  readonly #settings: readonly string[];
  readonly #idle: Search[] = [];
  /** The number of searches, including those that are lent. */
  #count = 0;
  #expected = 0;
  #isMaking = false;
  #failure: unknown;
  #isClosed = false;

  /**
   * Creates the first search immediately. `settings` are options of PocketSphinx that override the
   * shared options.
   */
  constructor(
    parts: {
      readonly library: SphinxLibrary;
      readonly viewFloats: ViewFloats;
      readonly maker: DecoderMaker;
    },
    settings: Readonly<Record<string, string>>,
  ) {
    this.#library = parts.library;
    this.#viewFloats = parts.viewFloats;
    this.#maker = parts.maker;
    this.#settings = sphinxSettings(settings);
    this.#add(this.#maker.makeNow(this.#settings));
  }

  /**
   * Announces a stream that will need a search until leave() is called. The search is created now.
   */
  expect(): { readonly leave: () => void } {
    this.#expected += 1;
    this.#makeOnThread();
    return { leave: () => (this.#expected -= 1) };
  }

  lend(): Search | undefined {
    const search = this.#idle.pop();
    const failure = this.#failure;
    this.#failure = undefined;
    if (!search && failure !== undefined) throw failure;
    if (!search) this.#makeOnThread(this.#count + 1);
    search?.begin();
    return search;
  }

  release(search: Search): void {
    const isExpected = this.#count <= Math.min(this.#expected, reserveMax);
    if (!this.#isClosed && (isExpected || this.#idle.length < idleMax)) this.#idle.push(search);
    else this.#free(search);
  }

  close(): void {
    this.#isClosed = true;
    for (const search of this.#idle.splice(0)) this.#free(search);
  }

  /** Creates searches, one after another, until there are `wanted`. */
  #makeOnThread(wanted = Math.min(this.#expected, reserveMax)): void {
    if (this.#isMaking || this.#isClosed || this.#count >= wanted) return;
    this.#isMaking = true;
    this.#maker
      .make(this.#settings)
      .then(
        (decoder) => this.#add(decoder),
        (error: unknown) => (this.#failure = error),
      )
      .finally(() => {
        this.#isMaking = false;
        if (this.#failure === undefined) this.#makeOnThread();
      });
  }

  #add(decoder: Pointer): void {
    this.#count += 1;
    const search = new Search(this.#library, this.#viewFloats, decoder);
    search.warmUp();
    this.release(search);
  }

  #free(search: Search): void {
    this.#count -= 1;
    search.close();
    this.#maker.free(search.decoder);
  }
}

/**
 * Lends at most `lentMax` searches of a pool at a time, so that users of one share wait only for
 * each other.
 */
export class SearchShare implements Searches {
  readonly #pool: Searches;
  readonly #lentMax: number;
  #lent = 0;

  constructor(pool: Searches, lentMax: number) {
    this.#pool = pool;
    this.#lentMax = lentMax;
  }

  lend(): Search | undefined {
    if (this.#lent >= this.#lentMax) return undefined;
    const search = this.#pool.lend();
    if (search) this.#lent += 1;
    return search;
  }

  release(search: Search): void {
    this.#lent -= 1;
    this.#pool.release(search);
  }
}
