import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, type EditedParagraph, paragraphsOf } from "./base.ts";
import { changesOf } from "./changes.ts";
import type { Pin } from "./pin.ts";
import { pinsAfter, withPins } from "./pins.ts";
import { timesOf, withoutOwnPins } from "./times.ts";

const words = ["eitt ", "tvö ", "þrjú"].map((word, at) => {
  return { startTime: `${at * 10 + 1}s`, endTime: `${at * 10 + 2}s`, word };
});
const base = baseOf([{ startTime: "1s", endTime: "22s", words, speakerId: "1" }]);
const [opened] = paragraphsOf(base);
assert.ok(opened);

function typed(text: string, ...pins: readonly (readonly [string, string, string])[]) {
  const all = pins.map(([said, startTime, endTime]): Pin => {
    const from = text.indexOf(said);
    assert.ok(from >= 0, said);
    return { from, to: from + said.length, startTime, endTime };
  });
  return withPins({ ...(opened ?? assert.fail()), text }, all);
}

function brief(paragraph: EditedParagraph): string {
  const timed = timesOf(base, paragraph);
  return timed.map(({ text, start, end }) => `${text.trim()} ${start}-${end}`).join(", ");
}

test("a typed word has the times that were set, and those around it divide the rest", () => {
  const rows: [EditedParagraph, string][] = [
    [typed("eitt og tvö þrjú", ["og", "5s", "6s"]), "eitt 1-2, og 5-6, tvö 11-12, þrjú 21-22"],
    [
      typed("eitt ab og cd tvö þrjú", ["og", "5s", "6s"]),
      "eitt 1-2, ab 2-2.579, og 5-6, cd 6-6.193, tvö 11-12, þrjú 21-22",
    ],
    // A space that is typed in the word divides its times.
    [
      typed("eitt ab cd tvö þrjú", ["ab cd", "5s", "6s"]),
      "eitt 1-2, ab 5-5.5, cd 5.5-6, tvö 11-12, þrjú 21-22",
    ],
    // A letter that is added belongs to the word.
    [typed("eitt ogx tvö þrjú", ["og", "5s", "6s"]), "eitt 1-2, ogx 5-6, tvö 11-12, þrjú 21-22"],
    // One that replaces a word of the base.
    [typed("eitt xyz þrjú", ["xyz", "14s", "15s"]), "eitt 1-2, xyz 14-15, þrjú 21-22"],
    // What stands elsewhere now is between the words of the base.
    [typed("eitt tvö og þrjú", ["og", "5s", "6s"]), "eitt 1-2, tvö 11-12, og 11-11, þrjú 21-22"],
    [typed("og eitt tvö þrjú", ["og", "5s", "6s"]), "og 1-6, eitt 1-2, tvö 11-12, þrjú 21-22"],
  ];
  for (const [paragraph, wanted] of rows) assert.equal(brief(paragraph), wanted, paragraph.text);
});

test("what is saved of a typed word are its times, which are not estimated", () => {
  const [change] = changesOf(base, [typed("eitt og tvö þrjú", ["og", "5s", "6.500s"])]);
  assert.deepEqual(change?.segments[0]?.words, [
    words[0],
    { startTime: "5s", endTime: "6.500s", word: "og " },
    ...words.slice(1),
  ]);
});

test("a pin says nothing about a word that has the same times", () => {
  const same = typed(opened.text, ["tvö", "11s", "12s"], ["þrjú", "21s", "23s"]);
  assert.deepEqual(withoutOwnPins(base, same).pins, [
    { from: 9, to: 13, startTime: "21s", endTime: "23s" },
  ]);
  assert.deepEqual(changesOf(base, [typed(opened.text, ["tvö", "11s", "12s"])]), []);
});

test("pins move with their letters", () => {
  const pin = { from: 4, to: 8, startTime: "1s", endTime: "2s" };
  const rows: [from: number, to: number, length: number, wanted: readonly (readonly number[])[]][] =
    [
      [0, 0, 2, [[6, 10]]],
      [4, 4, 2, [[6, 10]]],
      [8, 8, 2, [[4, 8]]],
      [5, 6, 3, [[4, 10]]],
      [2, 5, 1, [[3, 6]]],
      [7, 9, 1, [[4, 7]]],
      [4, 8, 4, []],
      [0, 9, 0, []],
    ];
  for (const [from, to, length, wanted] of rows) {
    const after = pinsAfter([pin], { from, to }, length);
    assert.deepEqual(
      after.map((one) => [one.from, one.to]),
      wanted,
      `${from}-${to}`,
    );
  }
});
