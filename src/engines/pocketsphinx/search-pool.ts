import type { Hint } from "../protocol/engine.ts";
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
  /** Begins to create a search if none is free, because one will be needed soon. */
  prepare(): void;
  /** Resolves when the search that is being created can be lent; undefined if none is. */
  readonly made: Promise<void> | undefined;
}

/** The parts that all pools share. */
export interface SearchParts {
  readonly library: SphinxLibrary;
  readonly viewFloats: ViewFloats;
  readonly maker: DecoderMaker;
}

/** The hints of a pool, which keeps idle searches until dropIdle() is called. */
export interface PoolHints {
  readonly hints: readonly Hint[];
  /** Called whenever a search is lent, released or created. */
  readonly onUse: (pool: SearchPool) => void;
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
  readonly #hinted: PoolHints | undefined;
  readonly #idle: Search[] = [];
  /** The number of searches, including those that are lent. */
  #count = 0;
  #expected = 0;
  #made: Promise<void> | undefined;
  #failure: unknown;
  #isClosed = false;

  /**
   * Creates the first search immediately, unless the searches have hints. `settings` are options of
   * PocketSphinx that override the shared options.
   */
  constructor(parts: SearchParts, settings: Readonly<Record<string, string>>, hinted?: PoolHints) {
    this.#library = parts.library;
    this.#viewFloats = parts.viewFloats;
    this.#maker = parts.maker;
    this.#settings = sphinxSettings(settings);
    this.#hinted = hinted;
    if (!hinted) this.#add(this.#maker.makeNow(this.#settings));
  }

  get made(): Promise<void> | undefined {
    return this.#made;
  }

  /** The number of searches that are not lent. */
  get idleCount(): number {
    return this.#idle.length;
  }

  /** The number of open streams that use this pool. */
  get expected(): number {
    return this.#expected;
  }

  /** Whether the pool has no searches and no stream needs one. */
  get isUnused(): boolean {
    return this.#count === 0 && this.#expected === 0 && this.#made === undefined;
  }

  /** Frees a search that is not lent, if there is one. */
  dropIdle(): void {
    const search = this.#idle.pop();
    if (search) this.#free(search);
  }

  /**
   * Announces a stream that will need a search until leave() is called. The search is created now.
   */
  expect(): { readonly leave: () => void } {
    this.#expected += 1;
    this.#makeOnThread();
    return {
      leave: () => {
        this.#expected -= 1;
        this.#hinted?.onUse(this);
      },
    };
  }

  lend(): Search | undefined {
    const search = this.#idle.pop();
    const failure = this.#failure;
    this.#failure = undefined;
    if (!search && failure !== undefined) throw failure;
    if (!search) this.#makeOnThread(this.#count + 1);
    search?.begin();
    if (search) this.#hinted?.onUse(this);
    return search;
  }

  prepare(): void {
    if (this.#idle.length === 0) this.#makeOnThread(this.#count + 1);
  }

  release(search: Search): void {
    const isExpected = this.#count <= Math.min(this.#expected, reserveMax);
    const isKept = this.#hinted !== undefined || isExpected || this.#idle.length < idleMax;
    if (isKept && !this.#isClosed) this.#idle.push(search);
    else this.#free(search);
    this.#hinted?.onUse(this);
  }

  close(): void {
    this.#isClosed = true;
    for (const search of this.#idle.splice(0)) this.#free(search);
  }

  /** Creates searches, one after another, until there are `wanted`. */
  #makeOnThread(wanted = Math.min(this.#expected, reserveMax)): void {
    if (this.#made || this.#isClosed || this.#count >= wanted) return;
    this.#made = this.#make();
  }

  async #make(): Promise<void> {
    const form = { settings: this.#settings, hints: this.#hinted?.hints ?? [] };
    try {
      this.#add(await this.#maker.make(form));
    } catch (error) {
      this.#failure = error;
    }
    this.#made = undefined;
    if (this.#failure === undefined) this.#makeOnThread();
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

/** The number of searches that may be lent at a time, and that are lent. */
export interface Places {
  readonly max: number;
  taken: number;
}

/**
 * Lends searches of a pool while there are places, so that the users of some places wait only for
 * each other. Several pools may share their places.
 */
export class SearchShare implements Searches {
  readonly #pool: Searches;
  readonly #places: Places;

  constructor(pool: Searches, places: Places) {
    this.#pool = pool;
    this.#places = places;
  }

  get made(): Promise<void> | undefined {
    return this.#pool.made;
  }

  lend(): Search | undefined {
    if (this.#places.taken >= this.#places.max) return undefined;
    const search = this.#pool.lend();
    if (search) this.#places.taken += 1;
    return search;
  }

  prepare(): void {
    if (this.#places.taken < this.#places.max) this.#pool.prepare();
  }

  release(search: Search): void {
    this.#places.taken -= 1;
    this.#pool.release(search);
  }
}
