import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawnEdits } from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { type Base, baseOf, type EditedParagraph, paragraphsOf } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { dividedAt } from "./divide.ts";
import { recognized } from "./recognized.ts";

/** Segments of which each begins a second after the other, with half a second a word. */
function segmentsOf(...said: readonly (readonly [speakerId: string, text: string])[]) {
  let at = 0;
  return said.map(([speakerId, text]) => {
    at += 1;
    const startTime = `${at}s`;
    const words = text.split(/(?<=\s)/).map((word) => {
      const startTime = `${at}s`;
      at += 0.5;
      return { startTime, endTime: `${at}s`, word };
    });
    return { speakerId, startTime, endTime: `${at}s`, words };
  });
}

const first = baseOf(
  segmentsOf(["1", "Já, einmitt."], ["2", "Hvað segir þú þá?"], ["1", "Gott. "], ["1", "Bless."]),
);

function saved(base: Base, paragraphs: readonly EditedParagraph[]): Base {
  return baseOf(segmentsAfter(base, changesOf(base, paragraphs)));
}

/** Returns what each paragraph is put back to, after the text was saved and opened again. */
function afterReopening(paragraphs: readonly EditedParagraph[]): (string | undefined)[] {
  const base = saved(first, paragraphs);
  return paragraphsOf(base).map((one) => recognized(first, base, one)?.text);
}

const [one, two, three, four] = paragraphsOf(first);
assert.ok(one && two && three && four);
const said = [one, two, three, four].map(({ text }) => text);

test("recognized() returns the words at the time of a paragraph, also after it was saved changed", () => {
  const rows: [name: string, paragraphs: EditedParagraph[], restored: (string | undefined)[]][] = [
    ["nothing", [one, two, three, four], said],
    ["another text", [{ ...one, text: "Nei, alls ekki." }, two, three, four], said],
    ["deleted words", [one, { ...two, text: "segir þá?" }, three, four], said],
    ["another speaker", [one, { ...two, speaker: "1" }, three, four], said],
    [
      "a deleted paragraph",
      [one, three, four].with(0, { ...one, to: two.to }),
      ["Já, einmitt.", "Gott. ", "Bless."],
    ],
    [
      "joined",
      [one, two, { ...three, text: "Gott. Bless.", to: four.to }],
      [said[0], said[1], "Gott. Bless."],
    ],
    [
      "divided, with words deleted at the edge",
      [
        one,
        ...dividedAt(first, two, 11).map((half) => {
          return { ...half, text: half.text.replace("segir ", "") };
        }),
        three,
        four,
      ],
      [said[0], "Hvað segir ", "þú þá?", said[2], said[3]],
    ],
  ];
  for (const [name, paragraphs, restored] of rows) {
    assert.deepEqual(afterReopening(paragraphs), restored, name);
  }
});

test("recognized() keeps the words of people apart who speak at the same time", () => {
  const times = (at: number) => ({ startTime: `${at}s`, endTime: `${at + 1}s` });
  const spoken = (speakerId: string, words: readonly string[]) => ({
    speakerId,
    startTime: "0s",
    endTime: "9s",
    words: words.map((word, at) => ({ ...times(at), word })),
  });
  const both = baseOf([spoken("1", ["nei ", "nei ", "nei"]), spoken("2", ["jú ", "jú ", "jú"])]);
  const [a, b] = paragraphsOf(both);
  assert.ok(a && b);
  const base = saved(both, [a, { ...b, text: "já já já" }]);
  const restored = paragraphsOf(base).map((each) => recognized(both, base, each)?.text);
  assert.deepEqual(restored, ["nei nei nei", "jú jú jú"]);
});

test("recognized() has nothing for what was inserted, saved or not", () => {
  const inserted = { ...two, text: "Alveg nýtt", from: two.to };
  assert.equal(recognized(first, first, inserted), undefined);
  assert.deepEqual(afterReopening([one, two, inserted, three, four]), [
    said[0],
    said[1],
    undefined,
    said[2],
    said[3],
  ]);
});

test("recognized() gives each word to one paragraph, in order, and its words are the text", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base: before, paragraphs, retimings }) => {
      const base = baseOf(segmentsAfter(before, changesOf(before, paragraphs, retimings)));
      const given = new Set<number>();
      for (const paragraph of paragraphsOf(base)) {
        const found = recognized(before, base, paragraph);
        let end = 0;
        let latest = -1;
        for (const { word, offset } of found?.words ?? []) {
          assert.ok(word > latest && !given.has(word), `word ${word}`);
          assert.ok(offset === end || found?.text.slice(end, offset) === " ");
          const text = before.words[word]?.word ?? "";
          assert.equal(found?.text.slice(offset, offset + text.length), text);
          end = offset + text.length;
          latest = word;
          given.add(word);
        }
        assert.equal(found?.text.length ?? 0, end);
      }
    }),
    { numRuns: runs(300) },
  );
});
