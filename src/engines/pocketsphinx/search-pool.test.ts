import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { flite } from "../../../test/fixtures/flite.ts";
import { until } from "../../../test/fixtures/until.ts";
import { Cepstra } from "./cepstra.ts";
import { utteranceMean } from "./cepstral-mean.ts";
import { type DecoderForm, DecoderMaker } from "./decoder-maker.ts";
import { FrontEnd } from "./front-end.ts";
import type { Search } from "./search.ts";
import { SearchPool, SearchShare } from "./search-pool.ts";
import { loadSphinxLibrary, type Pointer } from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";

const parts = await loadSphinxLibrary();
let pool: SearchPool;
let maker: DecoderMaker;
before(() => {
  maker = new DecoderMaker(parts);
  pool = new SearchPool({ ...parts, maker }, { "-maxhmmpf": "10000" });
});
after(() => {
  pool.close();
  maker.close();
});

function release(searches: readonly (Search | undefined)[]): void {
  for (const search of searches) {
    assert.ok(search);
    search.end();
    pool.release(search);
  }
}

/** Lends a search as soon as one is free. */
async function lent(): Promise<Search> {
  let search = pool.lend();
  await until(async () => (search ??= pool.lend()) !== undefined);
  assert.ok(search);
  return search;
}

test("a search returns exactly the same results on its first use and later", () => {
  const settings = { "-beam": "1e-60", "-pbeam": "1e-60", "-wbeam": "1e-40" };
  const fresh = new SearchPool({ ...parts, maker }, settings);
  const config = parseSettings(parts.library, sphinxSettings(settings));
  const frontEnd = new FrontEnd(parts.library, parts.viewFloats, config);
  const cepstra = new Cepstra();
  frontEnd.begin();
  frontEnd.accept(flite("Seven men came", { voice: "rms" }), cepstra);
  frontEnd.end(cepstra);
  const mean = utteranceMean(cepstra);
  const found = [1, 2, 3].map(() => {
    const search = fresh.lend();
    assert.ok(search);
    for (let at = 0; at < cepstra.count; at++) search.accept(cepstra.frame(at), mean);
    search.end();
    const readings = search.readings(3);
    fresh.release(search);
    return readings;
  });
  assert.equal(found[0]?.[0]?.text, "seven men came");
  assert.deepEqual(found[0], found[1]);
  assert.deepEqual(found[0], found[2]);
  frontEnd.close();
  fresh.close();
  parts.library.cmd_ln_free_r(config);
});

test("SearchPool lends a free search immediately, and creates more without blocking the thread", async () => {
  const first = pool.lend();
  assert.ok(first);
  const startMs = threadMs();
  // The first search of the pool is created on this thread, which takes 250 ms of CPU time.
  const other = new SearchPool({ ...parts, maker }, { "-maxhmmpf": "10000" });
  const makingMs = threadMs() - startMs;
  other.close();
  // Requesting a search takes 5 to 8 ms, because it is created on another thread.
  const longestMs = await longestTurnMs(async () => {
    const second = await lent();
    assert.notEqual(second, first);
    release([second]);
  });
  assert.ok(
    longestMs < makingMs / 8,
    `${longestMs} ms on this thread, making takes ${makingMs} ms`,
  );
  release([first]);
});

/** Measures the maximum CPU time that one turn of the event loop took during `work`. */
async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let lastMs = threadMs();
  const timer = setInterval(() => {
    const nowMs = threadMs();
    longest = Math.max(longest, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  await work();
  clearInterval(timer);
  return longest;
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

test("SearchPool creates a search for each expected stream in advance", async () => {
  let made = 0;
  class CountingMaker extends DecoderMaker {
    override async make(form: DecoderForm): Promise<Pointer> {
      const decoder = await super.make(form);
      made += 1;
      return decoder;
    }
  }
  const counting = new CountingMaker(parts);
  const own = new SearchPool({ ...parts, maker: counting }, { "-maxhmmpf": "10000" });
  const expectations = [own.expect(), own.expect(), own.expect()];
  await until(async () => made === 2);
  await turn();
  const searches = [own.lend(), own.lend(), own.lend()];
  assert.equal(new Set(searches).size, 3);
  assert.ok(searches.every((search) => search !== undefined));
  for (const search of searches) {
    search.end();
    own.release(search);
  }
  for (const { leave } of expectations) leave();
  own.close();
  counting.close();
  assert.equal(made, 2);
});

test("SearchShare lends no more than its share, and lends a released search again", async () => {
  const share = new SearchShare(pool, { max: 1, taken: 0 });
  let one = share.lend();
  await until(async () => (one ??= share.lend()) !== undefined);
  assert.ok(one);
  assert.equal(share.lend(), undefined);
  release([await lent()]);
  one.end();
  share.release(one);
  const again = share.lend();
  assert.ok(again);
  again.end();
  share.release(again);
});
