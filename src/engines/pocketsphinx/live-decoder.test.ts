import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { flite, joined, silence } from "../../../test/fixtures/flite.ts";
import type { Effort } from "../protocol/engine.ts";
import { Cepstra } from "./cepstra.ts";
import { meanDistance, utteranceMean } from "./cepstral-mean.ts";
import { DecoderMaker } from "./decoder-maker.ts";
import { FrontEnd } from "./front-end.ts";
import { LiveDecoder } from "./live-decoder.ts";
import type { Search } from "./search.ts";
import { SearchPool } from "./search-pool.ts";
import { loadSphinxLibrary } from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";
import { WholeDecoder } from "./whole-decoder.ts";

const parts = await loadSphinxLibrary();
const config = parseSettings(parts.library, sphinxSettings({}));

/** A pool of real searches that records their frames. */
class WatchedPool extends SearchPool {
  /** The means that each pass of a search subtracted from its frames. */
  readonly passes: Float64Array[][] = [];
  isEmpty = false;
  readonly #watched = new WeakSet<Search>();

  override lend(): Search | undefined {
    const search = this.isEmpty ? undefined : super.lend();
    if (!search || this.#watched.has(search)) return search;
    this.#watched.add(search);
    this.passes.push([]);
    const begin = search.begin.bind(search);
    search.begin = () => {
      this.passes.push([]);
      begin();
    };
    const accept = search.accept.bind(search);
    search.accept = (frame, mean) => {
      this.passes.at(-1)?.push(mean);
      accept(frame, mean);
    };
    return search;
  }
}

let pool: WatchedPool;
let full: WatchedPool;
let maker: DecoderMaker;
let voice: Int16Array;
/** The first three utterances of a speaker, and what a decoder has learned after two of them. */
const decoded: (Awaited<ReturnType<typeof decode>> & { readonly passes: Float64Array[][] })[] = [];
let learned: readonly number[];
/** The same voice with an echo, as from inside a box; its mean is at a distance of 0.66. */
let changed: Int16Array;
before(async () => {
  maker = new DecoderMaker(parts);
  pool = new WatchedPool({ ...parts, maker }, { "-maxhmmpf": "10000" });
  full = new WatchedPool({ ...parts, maker }, { "-wbeam": "1e-40", "-maxhmmpf": "10000" });
  voice = joined(
    silence(200),
    flite("Please send me the report before the end of the week", { voice: "rms" }),
  );
  changed = voice.map((sample, index) => {
    const echoed = sample + 0.9 * (voice[index - 3] ?? 0);
    return Math.max(-32_768, Math.min(32_767, Math.round(echoed)));
  });
  const decoder = open();
  for (let utterance = 0; utterance < 3; utterance++) {
    if (utterance === 2) learned = decoder.save();
    decoded.push({ ...(await decode(decoder, voice)), passes: pool.passes.splice(0) });
  }
  decoder.close();
});
after(() => {
  pool.close();
  full.close();
  maker.close();
  parts.library.cmd_ln_free_r(config);
});

function open(): LiveDecoder {
  return new LiveDecoder({
    alternativesMax: 1,
    frontEnd: new FrontEnd(parts.library, parts.viewFloats, config),
    searches: pool,
    wholeSearches: full,
  });
}

/** Opens a decoder that has learned the voice. */
function openKnowing(): LiveDecoder {
  const decoder = open();
  decoder.restore(learned);
  return decoder;
}

/** The cepstra of an utterance. */
function cepstraOf(samples: Int16Array): Cepstra {
  const frontEnd = new FrontEnd(parts.library, parts.viewFloats, config);
  const cepstra = new Cepstra();
  frontEnd.begin();
  frontEnd.accept(samples, cepstra);
  frontEnd.end(cepstra);
  frontEnd.close();
  return cepstra;
}

async function decode(
  decoder: LiveDecoder,
  samples: Int16Array,
  {
    msToEnd = 350,
    effort = "quick",
    isIdle = false,
  }: { msToEnd?: number; effort?: Effort; isIdle?: boolean } = {},
) {
  const partials: string[] = [];
  decoder.begin(effort);
  for (let at = 0; at < samples.length; at += 1600) {
    decoder.accept(samples.subarray(at, at + 1600));
    while (decoder.work()) await turn();
    partials.push(decoder.partial()?.text ?? "");
  }
  if (msToEnd > 0) decoder.pause(msToEnd);
  while (decoder.work()) await turn();
  if (isIdle) {
    while (decoder.prepareEnd()) await turn();
  }
  const ending = decoder.end();
  let slice = ending.next();
  let slices = 0;
  for (; !slice.done; slice = ending.next(), slices++) await turn();
  const { effort: done } = decoder;
  return { partials, text: slice.value[0]?.text ?? "", words: slice.value[0]?.words, slices, done };
}

test("the first utterance of a speaker needs at most two passes, and later utterances need one from their first frame on", () => {
  const frames = cepstraOf(voice).count;
  for (const [utterance, { text, partials, slices, passes }] of decoded.entries()) {
    assert.match(text, /^please send me the report before the end of the week$/);
    assert.ok(passes.length <= (utterance === 0 ? 2 : 1), `${passes.length} passes`);
    const last = passes.at(-1) ?? [];
    assert.equal(last.length, frames, "the final covers the whole utterance");
    assert.equal(new Set(last).size, 1, "every frame has the same mean");
    assert.ok(slices <= 1, "nothing is left to do at the end");
    const early = partials.findIndex((partial) => partial !== "");
    assert.ok(
      utterance === 0 ? early >= 9 : early < 9,
      `the first partial comes after ${early} chunks`,
    );
  }
  assert.equal(decoded.length, 3);
});

test("a mean that has become wrong is replaced for the entire utterance", async () => {
  const decoder = openKnowing();
  pool.passes.length = 0;
  const { text, partials } = await decode(decoder, changed);
  const own = cepstraOf(changed);
  assert.ok(pool.passes.length >= 2, "the search began again");
  const last = pool.passes.at(-1) ?? [];
  assert.equal(last.length, own.count);
  const [mean] = last;
  assert.ok(mean && last.every((each) => each === mean));
  assert.ok(meanDistance(mean, utteranceMean(own)) <= 0.55);
  assert.ok(meanDistance(pool.passes[0]?.[0] ?? mean, utteranceMean(own)) > 0.45);
  assert.match(text, /report before/);
  // A partial reading stays until there is a better one.
  const lengths = partials.map((partial) => partial.length);
  const shortest = Math.min(...lengths.slice(lengths.findIndex((length) => length > 0)));
  assert.ok(shortest > 0);
  decoder.close();
});

test("a final result waits for a second pass only if there is time for it", async () => {
  // The mean is checked after 1.5 s and 2.25 s; in between, a much louder voice begins.
  const soft = voice.subarray(0, 24_500).map((sample) => Math.round(sample / 200));
  const late = joined(soft, changed.subarray(4800, 4800 + 11_000));
  const frames = cepstraOf(late).count;
  for (const [msToEnd, count] of [
    [250, 2],
    [80, 1],
    [0, 1],
  ] as const) {
    const decoder = openKnowing();
    pool.passes.length = 0;
    await decode(decoder, late, { msToEnd });
    assert.deepEqual(
      pool.passes.map((means) => means.length),
      Array.from({ length: count }, (_, pass) => (pass === count - 1 ? frames : frames - 1)),
      `${msToEnd} ms before the end`,
    );
    decoder.close();
  }
});

test("a decoder keeps the audio while no search is free, and catches up later", async () => {
  const decoder = openKnowing();
  pool.passes.length = 0;
  pool.isEmpty = true;
  decoder.begin();
  for (let at = 0; at < voice.length; at += 1600) {
    decoder.accept(voice.subarray(at, at + 1600));
    assert.equal(decoder.work(), false);
    assert.equal(decoder.partial(), undefined);
  }
  const ending = decoder.end();
  for (let slice = 0; slice < 5; slice++) assert.equal(ending.next().done, false);
  pool.isEmpty = false;
  let slice = ending.next();
  let slices = 0;
  for (; !slice.done; slice = ending.next()) slices += 1;
  assert.match(slice.value[0]?.text ?? "", /^please send me the report/);
  const frames = cepstraOf(voice).count;
  assert.ok(slices >= Math.floor(frames / 10) - 1, `${slices} slices for ${frames} frames`);
  decoder.close();
});

/** The readings of a short recording. */
function wholeWords(samples: Int16Array) {
  const frontEnd = new FrontEnd(parts.library, parts.viewFloats, config);
  const whole = new WholeDecoder({ alternativesMax: 1, frontEnd, searches: full });
  whole.begin();
  whole.accept(samples);
  const ending = whole.end();
  let slice = ending.next();
  while (!slice.done) slice = ending.next();
  whole.close();
  return slice.value[0]?.words.map(({ text, startMs }) => ({ text, startMs }));
}

test("with full effort, a final result is that of a short recording, whether or not it was prepared", async () => {
  // The learned mean is wrong for this voice, so quick effort subtracts another one.
  for (const isIdle of [true, false]) {
    const decoder = openKnowing();
    full.passes.length = 0;
    const { words, partials, slices, done } = await decode(decoder, changed, {
      effort: "full",
      isIdle,
    });
    const passes = full.passes.splice(0);
    assert.equal(done, "full");
    assert.equal(passes.length, 1, "the second search is done once");
    assert.equal(new Set(passes[0]).size, 1);
    assert.ok(meanDistance(passes[0]?.[0] ?? average(), utteranceMean(cepstraOf(changed))) < 0.05);
    assert.deepEqual(
      words?.map(({ text, startMs }) => ({ text, startMs })),
      wholeWords(changed),
    );
    assert.ok(partials.some((text) => text !== ""));
    const frames = cepstraOf(changed).count;
    if (isIdle) assert.ok(slices <= 1, `${slices} slices are left at the end`);
    else assert.ok(slices >= Math.floor(frames / 10) - 1, `${slices} slices`);
    const { workMs, audioSeconds } = decoder.fullWork;
    assert.ok(workMs > 0);
    assert.ok(Math.abs(audioSeconds - frames / 100) < 0.02, `${audioSeconds} s`);
    decoder.close();
  }
});

test("a second search is dropped when speech continues, and not begun if the final would be late", async () => {
  const decoder = openKnowing();
  full.passes.length = 0;
  decoder.begin("full");
  decoder.accept(voice.subarray(0, 16_000));
  decoder.pause(350);
  while (decoder.work()) await turn();
  assert.ok(decoder.prepareEnd());
  decoder.accept(voice.subarray(16_000));
  assert.equal(decoder.prepareEnd(), false, "the pause was not the end");
  const ending = decoder.end();
  let slice = ending.next();
  while (!slice.done) slice = ending.next();
  assert.match(slice.value[0]?.text ?? "", /^please send me the report/);
  assert.deepEqual(
    full.passes.splice(0).map(({ length }) => length > 100),
    [false, true],
  );
  assert.equal(decoder.effort, "full");

  const long = joined(voice, voice, voice);
  assert.equal((await decode(decoder, long, { effort: "full" })).done, "quick");
  assert.deepEqual(full.passes, []);
  assert.equal((await decode(decoder, voice, { effort: "quick" })).done, "quick");
  assert.deepEqual(full.passes, []);
  decoder.close();
});

function average(): Float64Array {
  return new Float64Array(13);
}
