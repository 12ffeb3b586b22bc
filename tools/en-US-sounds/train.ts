// Makes src/engines/pocketsphinx/english-sounds.br from the pronouncing dictionary of Debian's
// pocketsphinx-en-us, in a minute: node tools/en-US-sounds/train.ts
import { writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { contextsOf } from "../../src/engines/pocketsphinx/english-sounds.ts";
import { dictionaryWords } from "./dictionary-words.ts";

const rounds = 8;
/** The maximum number of phones of one letter: X has two. */
const phonesMax = 2;
/** The cost of phones that no earlier alignment had for the letter. */
const unseenCost = 12;
/** The costs of 0, 1 and 2 phones for a letter, while nothing else is known. */
const firstCosts = [3, 1, 4] as const;
/** The number of words that a context must read better than its shorter contexts do. */
const gainMin = 2;

/** Returns the cost of a letter's phones. `place` is how far apart letter and phones are. */
type Cost = (letter: string, phones: readonly string[], place: number) => number;

/** A word with the phones of each letter, separated by spaces. */
type AlignedWord = readonly [word: string, phones: readonly string[]];

/** Finds the phones of each letter at the lowest cost; undefined if there are too many phones. */
function align(word: string, phones: readonly string[], cost: Cost): readonly string[] | undefined {
  const width = phones.length + 1;
  const best = new Float64Array((word.length + 1) * width).fill(Infinity);
  const counts = new Int8Array(best.length);
  best[0] = 0;
  for (let at = 0; at < word.length; at++) {
    for (let from = 0; from < width; from++) {
      const before = best[at * width + from] ?? Infinity;
      if (before === Infinity) continue;
      for (let count = 0; count <= phonesMax && from + count < width; count++) {
        const place = Math.abs(at / word.length - from / phones.length);
        const sum = before + cost(word[at] ?? "", phones.slice(from, from + count), place);
        const to = (at + 1) * width + from + count;
        if (sum >= (best[to] ?? Infinity)) continue;
        best[to] = sum;
        counts[to] = count;
      }
    }
  }
  if (best.at(-1) === Infinity) return undefined;
  const aligned: string[] = [];
  for (let at = word.length, end = phones.length; at > 0; at--) {
    const count = counts[at * width + end] ?? 0;
    aligned.unshift(phones.slice(end - count, end).join(" "));
    end -= count;
  }
  return aligned;
}

/** Aligns all words in some rounds, each with the frequencies that the round before found. */
function alignAll(): readonly AlignedWord[] {
  const { learned } = dictionaryWords();
  let cost: Cost = (_, phones, place) => (firstCosts[phones.length] ?? 0) + 2 * place;
  let aligned: AlignedWord[] = [];
  for (let round = 0; round < rounds; round++) {
    aligned = learned.flatMap(([word, [phones = []]]): AlignedWord[] => {
      const found = align(word, phones, cost);
      return found ? [[word, found]] : [];
    });
    const pairs = new Map<string, number>();
    const letters = new Map<string, number>();
    for (const [word, phones] of aligned) {
      for (const [at, letter] of Array.from(word).entries()) {
        count(pairs, `${letter}|${phones[at] ?? ""}`);
        count(letters, letter);
      }
    }
    cost = (letter, phones) => {
      const seen = pairs.get(`${letter}|${phones.join(" ")}`);
      return seen === undefined ? unseenCost : Math.log((letters.get(letter) ?? 0) / seen);
    };
  }
  return aligned;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Returns the contexts whose commonest phones differ from those of their shorter contexts. */
function contextsWithPhones(aligned: readonly AlignedWord[]): ReadonlyMap<string, string> {
  const seen = new Map<string, Map<string, number>>();
  for (const [word, phones] of aligned) {
    for (const at of phones.keys()) {
      const before = at === 0 ? undefined : phones[at - 1]?.split(" ").filter(Boolean);
      for (const context of contextsOf(word, at, before)) {
        const counts = seen.get(context) ?? new Map<string, number>();
        seen.set(context, counts);
        count(counts, phones[at] ?? "");
      }
    }
  }
  const kept = new Map<string, string>();
  for (const [context, counts] of [...seen].toSorted(([a], [b]) => a.length - b.length)) {
    const [commonest = ""] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
    const shorter = Array.from(context, (_, at) => context.slice(0, at));
    const known = shorter.findLast((each) => kept.has(each));
    const rightBefore = counts.get(kept.get(known ?? "") ?? "") ?? 0;
    const isBetter = (counts.get(commonest) ?? 0) - rightBefore >= gainMin;
    if (known === undefined || isBetter) kept.set(context, commonest);
  }
  return kept;
}

const lines = [...contextsWithPhones(alignAll())]
  .map(([context, phones]) => `${context} ${phones}`.trim())
  .toSorted();
const file = new URL("../../src/engines/pocketsphinx/english-sounds.br", import.meta.url);
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
writeFileSync(file, brotliCompressSync(lines.join("\n"), quality));
process.stdout.write(`${lines.length} contexts\n`);
