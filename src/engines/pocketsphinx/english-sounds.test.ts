import assert from "node:assert/strict";
import { test } from "node:test";
import { dictionaryWords } from "../../../tools/en-US-sounds/dictionary-words.ts";
import { EnglishSounds } from "./english-sounds.ts";

const sounds = new EnglishSounds();

test("EnglishSounds reads words that it has not learned with at most 10.5 % wrong phones", () => {
  const { learned, heldOut } = dictionaryWords();
  assert.ok(heldOut.length > 5000 && learned.length > 100_000);
  let [wrong, all] = [0, 0];
  for (const [word, pronunciations] of heldOut) {
    const phones = sounds.phonesOf(word);
    const errors = pronunciations.map((each) => distance(each, phones));
    wrong += Math.min(...errors);
    all += pronunciations[0]?.length ?? 0;
  }
  assert.ok(wrong / all <= 0.105, `${((100 * wrong) / all).toFixed(2)} % wrong`);
});

/** The least number of phones to change, insert or delete. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, phone] of a.entries()) {
    const next = [at + 1];
    for (const [to, other] of b.entries()) {
      const changed = (row[to] ?? 0) + (phone === other ? 0 : 1);
      next.push(Math.min((row[to + 1] ?? 0) + 1, (next[to] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

const rows: readonly [word: string, sounds: readonly string[]][] = [
  ["snabbing", ["S N AE B IH NG"]],
  ["ZXQ", ["Z IY EH K S K Y UW"]],
  ["R2D2", ["AA R T UW D IY T UW"]],
  ["EFTA", ["IY EH F T IY EY", "EH F T AH"]],
  ["1984", ["N AY N T IY N EY T IY F AO R"]],
  ["42", ["F AO R T IY T UW"]],
  ["20", ["T W EH N T IY"]],
  ["007", ["Z IH R OW Z IH R OW S EH V AH N"]],
  ["Привет", []],
  ["会議", []],
];
for (const [word, expected] of rows) {
  test(`soundsOf() reads ${word}`, () => {
    assert.deepEqual(sounds.soundsOf(word), expected);
  });
}

test("soundsOf() reads Icelandic names in Icelandic first, and then in English", () => {
  const names: readonly [name: string, sound: string][] = [
    ["Guðrún", "G UH DH R UW N"],
    ["Þórður", "TH OW R DH UH R"],
    ["Eyjafjallajökull", "EY Y AA F Y AA T L AA Y ER K UH T L"],
    ["Sigríður", "S IH G R IY DH UH R"],
    ["Hvítá", "K V IY T AW"],
    ["Snæfell", "S N AY F EH T L"],
    ["Ásdís", "AW S D IY S"],
  ];
  for (const [name, sound] of names) {
    const found = sounds.soundsOf(name);
    assert.equal(found[0], sound);
    assert.equal(found.length, 2, name);
  }
});
