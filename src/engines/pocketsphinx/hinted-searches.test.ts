import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { flite } from "../../../test/fixtures/flite.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Hint } from "../protocol/engine.ts";
import { Cepstra } from "./cepstra.ts";
import { utteranceMean } from "./cepstral-mean.ts";
import { DecoderMaker, type DecoderForm } from "./decoder-maker.ts";
import { FrontEnd } from "./front-end.ts";
import { HintedSearches } from "./hinted-searches.ts";
import type { Search } from "./search.ts";
import type { Searches } from "./search-pool.ts";
import { SearchPool } from "./search-pool.ts";
import { loadSphinxLibrary, type Pointer } from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";

const parts = await loadSphinxLibrary();
const settings = { "-maxhmmpf": "10000" };

/** Counts the decoders that exist, and notes the hints of those that are created. */
class CountingMaker extends DecoderMaker {
  readonly made: string[] = [];
  count = 0;

  override async make(form: DecoderForm): Promise<Pointer> {
    const decoder = await super.make(form);
    this.made.push(form.hints.map(({ phrase }) => phrase).join());
    this.count += 1;
    return decoder;
  }

  override free(decoder: Pointer): void {
    this.count -= 1;
    super.free(decoder);
  }
}

let maker: CountingMaker;
let plain: SearchPool;
before(() => {
  maker = new CountingMaker(parts);
  plain = new SearchPool({ ...parts, maker }, settings);
});
after(() => {
  plain.close();
  maker.close();
});

const hintsOf = (phrase: string): Hint[] => [{ phrase, boost: 10 }];

/** Lends a search as soon as one is free. */
async function lent(pool: Searches): Promise<Search> {
  let search = pool.lend();
  await until(async () => (search ??= pool.lend()) !== undefined);
  assert.ok(search);
  return search;
}

async function useOnce(pool: Searches): Promise<void> {
  const search = await lent(pool);
  search.end();
  pool.release(search);
}

test("searches with the same hints are shared, and the idle ones that were used last are kept", async () => {
  const hinted = new HintedSearches({ ...parts, maker });
  const of = (phrase: string) => hinted.pool(settings, hintsOf(phrase));
  assert.equal(of("Anna"), of("Anna"));
  assert.notEqual(of("Anna"), of("Bjarni"));
  assert.notEqual(of("Anna"), hinted.pool({}, hintsOf("Anna")));
  maker.made.length = 0;
  for (const phrase of ["Anna", "Bjarni", "Anna", "Cecil", "Doris", "Anna", "Bjarni"]) {
    await useOnce(of(phrase));
    assert.ok(hinted.idleCount <= 3, `${hinted.idleCount} idle searches`);
  }
  // Bjarni's was the least recently used when Doris's was added.
  assert.deepEqual(maker.made, ["Anna", "Bjarni", "Cecil", "Doris", "Bjarni"]);
  hinted.close();
});

test("searches are kept for open streams with hints, and freed after the last one", async () => {
  const hinted = new HintedSearches({ ...parts, maker });
  const before = maker.count;
  const streams = ["a", "b", "c", "d", "e"].map((letter) => {
    const pool = hinted.pool(settings, hintsOf(letter));
    return { pool, ...pool.expect() };
  });
  for (const { pool } of streams) await useOnce(pool);
  for (const { pool } of streams) await useOnce(pool);
  assert.equal(maker.count - before, streams.length, "none was created twice");
  assert.equal(hinted.idleCount, streams.length);
  for (const { leave } of streams) leave();
  assert.equal(hinted.idleCount, 3);
  hinted.close();
  assert.equal(maker.count, before);
});

test("a search without hints is created before those with hints that wait", async () => {
  const hinted = new HintedSearches({ ...parts, maker });
  const streams = ["x", "y", "z"].map((letter) => hinted.pool(settings, hintsOf(letter)).expect());
  maker.made.length = 0;
  const searches = [await lent(plain), await lent(plain)];
  assert.ok(maker.made.indexOf("") <= 1, `created ${maker.made.join("|")}`);
  for (const search of searches) {
    search.end();
    plain.release(search);
  }
  for (const { leave } of streams) leave();
  await until(async () => maker.made.length === 4);
  hinted.close();
});

test("a search with hints finds other words exactly as one without, and no other search its phrase", async () => {
  const config = parseSettings(parts.library, sphinxSettings(settings));
  const frontEnd = new FrontEnd(parts.library, parts.viewFloats, config);
  const find = (search: Search, text: string) => {
    const cepstra = new Cepstra();
    frontEnd.begin();
    frontEnd.accept(flite(text, { voice: "rms" }), cepstra);
    frontEnd.end(cepstra);
    const mean = utteranceMean(cepstra);
    for (let at = 0; at < cepstra.count; at++) search.accept(cepstra.frame(at), mean);
    search.end();
    return search.readings(1);
  };
  const hinted = new HintedSearches({ ...parts, maker });
  const pool = hinted.pool(settings, [
    { phrase: "Saoirse", boost: 10, soundsLike: ["sursha"] },
    { phrase: "Привет", boost: 10 },
    { phrase: "well-groomed R2D2 O’Blorf", boost: 20 },
  ]);
  const rows = ["Seven men came", "Sursha came"] as const;
  const [words, name] = rows;
  const results = new Map<string, unknown>();
  for (const each of [pool, plain, pool, plain]) {
    for (const text of rows) {
      const search = await lent(each);
      const found = find(search, text);
      each.release(search);
      const key = `${each === pool ? "hinted" : "plain"} ${text}`;
      assert.deepEqual(found, results.get(key) ?? found, "the second time as the first");
      results.set(key, found);
    }
  }
  assert.deepEqual(results.get(`hinted ${words}`), results.get(`plain ${words}`));
  assert.match(JSON.stringify(results.get(`hinted ${name}`)), /saoirse came/);
  assert.doesNotMatch(JSON.stringify(results.get(`plain ${name}`)), /saoirse/);
  hinted.close();
  frontEnd.close();
  parts.library.cmd_ln_free_r(config);
});
