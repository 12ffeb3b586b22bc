import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { flite, joined, silence } from "../../../test/fixtures/flite.ts";
import { Cepstra } from "./cepstra.ts";
import { meanDistance, utteranceMean } from "./cepstral-mean.ts";
import { DecoderMaker } from "./decoder-maker.ts";
import { FrontEnd } from "./front-end.ts";
import { LiveDecoder } from "./live-decoder.ts";
import type { Search } from "./search.ts";
import { SearchPool } from "./search-pool.ts";
import { loadSphinxLibrary } from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";

const parts = await loadSphinxLibrary();
const config = parseSettings(parts.library, sphinxSettings({}));

/** A pool of real searches that notes what they are fed. */
class WatchedPool extends SearchPool {
  /** Of each search of an utterance: the means that were taken off its frames. */
  readonly passes: Float64Array[][] = [];
  isOut = false;
  readonly #watched = new WeakSet<Search>();

  override lend(): Search | undefined {
    const search = this.isOut ? undefined : super.lend();
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
let maker: DecoderMaker;
let voice: Int16Array;
/** The first three utterances of a speaker, and what a decoder has learnt after two of them. */
const heard: (Awaited<ReturnType<typeof hear>> & { readonly passes: Float64Array[][] })[] = [];
let learnt: readonly number[];
/** The same voice with an echo, as from a box: its mean is 0.66 away. */
let changed: Int16Array;
before(async () => {
  maker = new DecoderMaker(parts.library);
  pool = new WatchedPool({ ...parts, maker }, { "-maxhmmpf": "10000" });
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
    if (utterance === 2) learnt = decoder.save();
    heard.push({ ...(await hear(decoder, voice)), passes: pool.passes.splice(0) });
  }
  decoder.close();
});
after(() => {
  pool.close();
  maker.close();
  parts.library.cmd_ln_free_r(config);
});

function open(): LiveDecoder {
  return new LiveDecoder({
    alternativesMax: 1,
    frontEnd: new FrontEnd(parts.library, parts.viewFloats, config),
    searches: pool,
  });
}

/** A decoder that knows the voice. */
function openKnowing(): LiveDecoder {
  const decoder = open();
  decoder.restore(learnt);
  return decoder;
}

/** The cepstra of an utterance, heard apart. */
function cepstraOf(samples: Int16Array): Cepstra {
  const frontEnd = new FrontEnd(parts.library, parts.viewFloats, config);
  const cepstra = new Cepstra();
  frontEnd.begin();
  frontEnd.accept(samples, cepstra);
  frontEnd.end(cepstra);
  frontEnd.close();
  return cepstra;
}

async function hear(decoder: LiveDecoder, samples: Int16Array, { msToEnd = 350 } = {}) {
  const partials: string[] = [];
  decoder.begin();
  for (let at = 0; at < samples.length; at += 1600) {
    decoder.accept(samples.subarray(at, at + 1600));
    while (decoder.work()) await turn();
    partials.push(decoder.partial()?.text ?? "");
  }
  if (msToEnd > 0) decoder.pause(msToEnd);
  while (decoder.work()) await turn();
  const ending = decoder.end();
  let slice = ending.next();
  let slices = 0;
  for (; !slice.done; slice = ending.next(), slices++) await turn();
  return { partials, text: slice.value[0]?.text ?? "", slices };
}

test("the first utterance is heard in two passes at most, each later one of its speaker in one, from its first frame", () => {
  const frames = cepstraOf(voice).count;
  for (const [utterance, { text, partials, slices, passes }] of heard.entries()) {
    assert.match(text, /^please send me the report before the end of the week$/);
    assert.ok(passes.length <= (utterance === 0 ? 2 : 1), `${passes.length} passes`);
    const last = passes.at(-1) ?? [];
    assert.equal(last.length, frames, "the final is of the whole utterance");
    assert.equal(new Set(last).size, 1, "the same mean off every frame");
    assert.ok(slices <= 1, "nothing is left to do at the end");
    const early = partials.findIndex((partial) => partial !== "");
    assert.ok(utterance === 0 ? early >= 9 : early < 9, `first heard after ${early} pieces`);
  }
  assert.equal(heard.length, 3);
});

test("a mean that has become wrong is taken back for the whole utterance", async () => {
  const decoder = openKnowing();
  pool.passes.length = 0;
  const { text, partials } = await hear(decoder, changed);
  const own = cepstraOf(changed);
  assert.ok(pool.passes.length >= 2, "it was begun again");
  const last = pool.passes.at(-1) ?? [];
  assert.equal(last.length, own.count);
  const [mean] = last;
  assert.ok(mean && last.every((each) => each === mean));
  assert.ok(meanDistance(mean, utteranceMean(own)) <= 0.55);
  assert.ok(meanDistance(pool.passes[0]?.[0] ?? mean, utteranceMean(own)) > 0.45);
  assert.match(text, /report before/);
  // What has been shown stays until there is something better.
  const lengths = partials.map((partial) => partial.length);
  const shortest = Math.min(...lengths.slice(lengths.findIndex((length) => length > 0)));
  assert.ok(shortest > 0);
  decoder.close();
});

test("a final waits for a second pass when there is time for it, and only then", async () => {
  // After 1.5 s the mean is looked at next after 2.25 s; then somebody cuts in, much louder.
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
    await hear(decoder, late, { msToEnd });
    assert.deepEqual(
      pool.passes.map((means) => means.length),
      Array.from({ length: count }, (_, pass) => (pass === count - 1 ? frames : frames - 1)),
      `${msToEnd} ms before the end`,
    );
    decoder.close();
  }
});

test("while there is no search to be had it listens, and catches up", async () => {
  const decoder = openKnowing();
  pool.passes.length = 0;
  pool.isOut = true;
  decoder.begin();
  for (let at = 0; at < voice.length; at += 1600) {
    decoder.accept(voice.subarray(at, at + 1600));
    assert.equal(decoder.work(), false);
    assert.equal(decoder.partial(), undefined);
  }
  const ending = decoder.end();
  for (let slice = 0; slice < 5; slice++) assert.equal(ending.next().done, false);
  pool.isOut = false;
  let slice = ending.next();
  let slices = 0;
  for (; !slice.done; slice = ending.next()) slices += 1;
  assert.match(slice.value[0]?.text ?? "", /^please send me the report/);
  const frames = cepstraOf(voice).count;
  assert.ok(slices >= Math.floor(frames / 10) - 1, `${slices} slices for ${frames} frames`);
  decoder.close();
});
