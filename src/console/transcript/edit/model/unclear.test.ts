import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawnEdits } from "../../../../../test/fixtures/edited-texts.ts";
import { longSegments } from "../../../../../test/fixtures/long-transcript.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, paragraphsOf } from "./base.ts";
import { timesOf } from "./times.ts";
import { type FoundUnclear, UnclearWords } from "./unclear.ts";

test("the unclear words are those below the limit that were not changed", () => {
  let count = 0;
  fc.assert(
    fc.property(drawnEdits, fc.constantFrom(0.25, 0.5, 1), ({ base, paragraphs }, below) => {
      const unclear = new UnclearWords(base, below);
      for (const paragraph of paragraphs) {
        const expected = timesOf(base, paragraph).flatMap(({ text, offset, word, isUnchanged }) => {
          const { confidence } = base.words[word ?? -1] ?? {};
          if (!isUnchanged || text.trim() === "" || typeof confidence !== "number") return [];
          const from = offset + text.length - text.trimStart().length;
          const to = offset + text.trimEnd().length;
          return confidence < below ? [{ from, to, confidence }] : [];
        });
        assert.deepEqual(unclear.in(paragraph), expected);
        count += expected.length;
      }
    }),
    { numRuns: runs(400) },
  );
  assert.ok(count > runs(400), `${count} words`);
});

test("stepping visits each unclear word once in order, and begins again, in both directions", () => {
  fc.assert(
    fc.property(drawnEdits, fc.nat(), ({ base, paragraphs }, start) => {
      const unclear = new UnclearWords(base, 0.5);
      const all = paragraphs.flatMap((paragraph, at) =>
        unclear.in(paragraph).map(({ from, to }) => ({
          from: { paragraph: at, offset: from },
          to: { paragraph: at, offset: to },
        })),
      );
      const nowhere = { paragraph: start % Math.max(1, paragraphs.length), offset: 0 };
      for (const direction of [1, -1] as const) {
        let here = { from: nowhere, to: nowhere };
        const visited = all.map(() => {
          const found = nearest(unclear.near(paragraphs, here, direction));
          assert.ok(found);
          const { paragraph, word } = found;
          here = {
            from: { paragraph, offset: word.from },
            to: { paragraph, offset: word.to },
          };
          return here;
        });
        const first = direction === 1 ? 0 : -1;
        const order = direction === 1 ? all : all.toReversed();
        const begin = order.findIndex(({ from }) => isSame(from, visited[0]?.from));
        assert.deepEqual(visited, [...order.slice(begin), ...order.slice(0, begin)]);
        const isFirst =
          direction === 1
            ? all.find(({ from }) => from.paragraph >= nowhere.paragraph)
            : all.findLast(({ from }) => from.paragraph < nowhere.paragraph);
        assert.deepEqual(visited[0], isFirst ?? all.at(first));
      }
      if (all.length > 0) return;
      const here = { from: nowhere, to: nowhere };
      assert.equal(nearest(unclear.near(paragraphs, here, 1)), undefined);
    }),
    { numRuns: runs(300) },
  );
});

function nearest(search: Generator<undefined, FoundUnclear | undefined>): FoundUnclear | undefined {
  let now = search.next();
  while (now.done !== true) now = search.next();
  return now.value;
}

function isSame(
  one: { readonly paragraph: number; readonly offset: number },
  other: typeof one | undefined,
): boolean {
  return one.paragraph === other?.paragraph && one.offset === other.offset;
}

test("a step in 72,000 words takes little time, or pauses where all unclear words were changed", () => {
  const segments = longSegments(72_000).map((segment) => ({
    ...segment,
    words: (segment.words ?? []).map((word, at) => ({
      ...word,
      confidence: at % 10 === 3 ? 0.2 : 0.9,
    })),
  }));
  const base = baseOf(segments);
  const edited = paragraphsOf(base).map((paragraph) => {
    const words = base.words.slice(paragraph.from, paragraph.to);
    const texts = words.map(({ word = "", confidence }) =>
      confidence === 0.2 ? `${word.trim()}ð ` : word,
    );
    return { ...paragraph, text: texts.join("") };
  });
  const place = { paragraph: 0, offset: 0 };
  const here = { from: place, to: place };
  const cpuMs = (act: () => void): number => {
    const began = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  const unclear = new UnclearWords(base, 0.5);
  const step = cpuMs(() => nearest(unclear.near(paragraphsOf(base), here, -1)));
  assert.ok(step < 32, `${step} ms`);
  // The search through a text without any unclear words left pauses often. The CPU time of single
  // slices includes garbage collection, so one in ten may take longer.
  const slicesMs: number[] = [];
  const search = unclear.near(edited, here, 1);
  const isDone = (): boolean => {
    let done: boolean | undefined;
    slicesMs.push(cpuMs(() => ({ done } = search.next())));
    return done === true;
  };
  while (!isDone());
  const usual = slicesMs.toSorted((a, b) => a - b)[Math.floor(0.9 * slicesMs.length)] ?? Infinity;
  assert.ok(slicesMs.length >= 5 && usual < 16, `${usual} ms of ${slicesMs.length} slices`);
});
