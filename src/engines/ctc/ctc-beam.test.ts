import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { finalReadings, partialReading } from "./beam-readings.ts";
import { CtcBeam } from "./ctc-beam.ts";
import type { Prefix, Stamp } from "./prefix.ts";
import { type TokenTable, tokenTable } from "./token-table.ts";
import { WordScorer } from "./word-scorer.ts";

const plain = new WordScorer(undefined);
const times = { frameMs: 40, startMs: 0, endMs: 60_000 };

function tableOf(...symbols: readonly string[]): TokenTable {
  return tokenTable("tokens.txt", symbols);
}

/** A frame of log probabilities with these weights for the tokens. */
function frameOf(weights: readonly number[]): Float32Array {
  const sum = weights.reduce((total, each) => total + each, 0);
  return Float32Array.from(weights, (each) => Math.log(each / sum));
}

/** A frame in which a token has this probability. */
function certain(table: TokenTable, token: number, probability = 0.99): Float32Array {
  const rest = (1 - probability) / (table.tokens.length - 1);
  return frameOf(table.tokens.map((_, index) => (index === token ? probability : rest)));
}

function search(
  table: TokenTable,
  frames: readonly Float32Array[],
  scorer = plain,
  width = 16,
): CtcBeam {
  const beam = new CtcBeam(table, scorer, width);
  for (const frame of frames) beam.step(frame, 0);
  return beam;
}

function readingsOf(table: TokenTable, frames: readonly Float32Array[], scorer = plain) {
  const beam = search(table, frames, scorer);
  return finalReadings(beam, { table, scorer, times, countMax: 10 });
}

function tokensOf(prefix: Prefix): readonly number[] {
  return prefix.parent ? [...tokensOf(prefix.parent), prefix.token] : [];
}

function framesOf(stamp: Stamp | undefined): readonly number[] {
  return stamp ? [...framesOf(stamp.before), stamp.first] : [];
}

/**
 * Enumerates all alignments. Returns, for each text, the sum of their probabilities and the first
 * frames of the tokens of the likeliest alignment.
 */
function allAlignments(frames: readonly Float32Array[], blank: number) {
  const texts = new Map<string, { sum: number; best: number; starts: readonly number[] }>();
  const visit = (at: number, path: readonly number[], probability: number) => {
    const frame = frames[at];
    if (frame) {
      for (const [token, log] of frame.entries()) {
        visit(at + 1, [...path, token], probability * Math.exp(log));
      }
      return;
    }
    const starts = [...path.keys()].filter((n) => path[n] !== blank && path[n] !== path[n - 1]);
    const text = starts.map((n) => path[n]).join();
    const known = texts.get(text) ?? { sum: 0, best: 0, starts };
    const isBetter = probability > known.best;
    texts.set(text, {
      sum: known.sum + probability,
      best: Math.max(known.best, probability),
      starts: isBetter ? starts : known.starts,
    });
  };
  visit(0, [], 1);
  return texts;
}

test("a wide beam sums the probabilities of all alignments of each text, and finds the likeliest alignment", () => {
  const weight = fc.double({ min: 0.2, max: 1, noNaN: true });
  const frames = fc.array(fc.tuple(weight, weight, weight), { minLength: 1, maxLength: 6 });
  const property = fc.property(frames, fc.constantFrom(0, 2), (weights, blank) => {
    const symbols = ["a", "b"].toSpliced(blank, 0, "<blk>");
    const logs = weights.map(frameOf);
    const beam = search(tableOf(...symbols), logs, plain, 1000);
    const expected = allAlignments(logs, blank);
    assert.equal(beam.prefixes.length, expected.size);
    for (const prefix of beam.prefixes) {
      const text = expected.get(tokensOf(prefix).join());
      assert.ok(text && Math.abs(Math.exp(prefix.score) - text.sum) < 1e-6);
      assert.ok(Math.abs(Math.exp(prefix.likeliest.best) - text.best) < 1e-6);
      // If two alignments are equally likely, either is correct.
      const starts = framesOf(prefix.likeliest.stamp);
      assert.equal(starts.length, text.starts.length);
    }
    const [best] = beam.prefixes;
    const sums = [...expected.values()].map(({ sum }) => sum);
    assert.ok(best && Math.abs(Math.exp(best.score) - Math.max(...sums)) < 1e-6);
  });
  fc.assert(property, { numRuns: 200 });
});

test("words get the times of their tokens' likeliest frames", () => {
  const table = tableOf("▁", "a", "b", "<blk>");
  const path = [3, 3, 1, 1, 3, 2, 3, 0, 3, 3, 2, 3, 3, 1, 3, 3];
  const [best] = readingsOf(
    table,
    path.map((token) => certain(table, token)),
  );
  assert.equal(best?.text, "ab ba");
  const spans = best.words.map(({ startMs, endMs }) => [startMs, endMs]);
  assert.deepEqual(spans, [
    [80, 280],
    [400, 600],
  ]);
});

test("words get times within the utterance and in order, however late the tokens come", () => {
  const table = tableOf("▁", "a", "<blk>");
  const path = [1, 0, 1, 0, 1, 0, 1];
  const beam = search(
    table,
    path.map((token) => certain(table, token)),
  );
  const late = { frameMs: 40, startMs: -70, endMs: 100.7 };
  const reading = partialReading(beam, table, late);
  const spans = reading?.words.map(({ startMs, endMs }) => [startMs, endMs]);
  assert.deepEqual(spans, [
    [0, 10],
    [10, 90],
    [90, 99],
    [99, 100],
  ]);
});

test("tokens with the mark of a word beginning begin words", () => {
  const table = tableOf("<unk>", "▁takk", "▁fy", "rir", "s", "▁", "<eps>");
  const path = [6, 1, 6, 5, 5, 6, 4, 2, 3, 6];
  const [best] = readingsOf(
    table,
    path.map((token) => certain(table, token)),
  );
  assert.equal(best?.text, "takk s fyrir");
});

test("tokens for unknown words and for the beginning and end of a sentence never appear in a text", () => {
  const table = tableOf("<blk>", "<sos/eos>", "<unk>", "▁a", "<s>");
  const specials = [1, 2, 4].map((token) =>
    frameOf(table.tokens.map((_, index) => (index === token ? 0.7 : index === 0 ? 0.28 : 0.01))),
  );
  const frames = [...[3, 0].map((token) => certain(table, token)), ...specials, certain(table, 3)];
  const [best, ...others] = readingsOf(table, frames);
  assert.equal(best?.text, "a a");
  for (const { text } of others) assert.match(text, /^a( a)*$/);
});

test("spaces at either end and repeated spaces have no effect", () => {
  const table = tableOf("▁", "a", "<blk>");
  for (const path of [
    [0, 1, 2, 1],
    [2, 0, 2, 0, 1, 2, 1, 0, 2, 0],
    [1, 2, 1, 0, 2, 2, 0, 2],
  ]) {
    const readings = readingsOf(
      table,
      path.map((token) => certain(table, token)),
    );
    assert.equal(readings[0]?.text, "aa");
    for (const prefix of search(
      table,
      path.map((token) => certain(table, token)),
    ).prefixes) {
      assert.doesNotMatch(tokensOf(prefix).join(" "), /^0|0 0/);
    }
    assert.equal(new Set(readings.map(({ text }) => text)).size, readings.length);
  }
  assert.deepEqual(
    readingsOf(
      table,
      [0, 2, 0].map((token) => certain(table, token, 0.9999)),
    ),
    [],
  );
});

test("unclear words have a low confidence, and other readings have a lower confidence than the best", () => {
  const table = tableOf("▁", "a", "b", "<blk>");
  const unclear = frameOf([0.01, 0.5, 0.45, 0.04]);
  const frames = [
    certain(table, 1),
    certain(table, 3),
    certain(table, 0),
    unclear,
    certain(table, 3),
  ];
  const readings = readingsOf(table, frames);
  assert.deepEqual(
    readings.slice(0, 2).map(({ text }) => text),
    ["a a", "a b"],
  );
  const [first = 0, second = 1] = readings[0]?.words.map(({ confidence }) => confidence ?? 0) ?? [];
  assert.ok(first > 0.9 && second < 0.5, `${first} ${second}`);
  const confidences = readings.map(({ confidence }) => confidence ?? 0);
  assert.deepEqual(
    confidences,
    confidences.toSorted((a, b) => b - a),
  );
  assert.ok(confidences.every((each) => each >= 0 && each <= 1));
});

test("only the likeliest of thousands of tokens are considered", () => {
  const symbols = Array.from({ length: 5000 }, (_, index) => `▁${index.toString(36)}`);
  const table = tableOf("<blk>", ...symbols);
  const path = [4000, 0, 17, 0, 4999, 1, 0];
  const frames = path.map((token) =>
    frameOf(table.tokens.map((_, at) => (at === token ? 1000 : 1 + ((at * 7919) % 5000) / 5000))),
  );
  const [best] = readingsOf(table, frames);
  const said = path.flatMap((token) => table.tokens[token]?.text ?? []);
  assert.equal(best?.text, said.join(" "));
  // All tokens are equally likely, so any reading is correct.
  const even = frameOf(table.tokens.map(() => 1));
  assert.ok(readingsOf(table, [even, even]).length > 0);
});

test("a frame costs no more after a minute than after a second, and memory does not grow", () => {
  const table = tableOf("▁", "a", "b", "c", "<blk>");
  const beam = new CtcBeam(table, plain, 16);
  const frames = [1, 4, 2, 4, 3, 4, 0, 4].map((token) => certain(table, token, 0.7));
  const nodesOf = () => {
    const [root] = ancestors(beam.prefixes[0]).slice(-1);
    return root ? countOf(root) - ancestors(beam.prefixes[0]).length : 0;
  };
  const counts: number[] = [];
  for (let frame = 0; frame < 1500; frame++) {
    beam.step(frames[frame % frames.length] ?? new Float32Array(5), 0);
    if (frame % frames.length === 0) counts.push(nodesOf());
  }
  const [early, late] = [Math.max(...counts.slice(10, 30)), Math.max(...counts.slice(-30))];
  assert.ok(late <= early * 1.5, `${late} hypotheses besides the best, ${early} before`);
  assert.equal(partialReading(beam, table, times)?.words.length, 188);
});

function ancestors(prefix: Prefix | undefined): readonly Prefix[] {
  const all: Prefix[] = [];
  for (let at = prefix; at; at = at.parent) all.push(at);
  return all;
}

function countOf(prefix: Prefix): number {
  let count = 1;
  for (let child = prefix.child; child; child = child.sibling) count += countOf(child);
  return count;
}

test("outputs that are not probabilities cause an error instead of being treated as silence", () => {
  const table = tableOf("a", "b", "<blk>");
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const frames = [certain(table, 0), new Float32Array(3).fill(value)];
    assert.throws(
      () => search(table, frames),
      /^Error: the model's outputs are not probabilities$/,
    );
  }
});
