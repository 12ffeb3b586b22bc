import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { randomSpeech, spokenText } from "../../test/fixtures/random-speech.ts";
import { LiveWriter } from "./live-writer.ts";
import { spokenWords, writeWords, type WrittenWord } from "./write-words.ts";

const options = { formats: true, punctuation: true, masksProfanity: false };
const icelandic = { ...options, languageCode: "is-IS" };
const english = { ...options, languageCode: "en-US" };

function textOf(words: readonly WrittenWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

describe("LiveWriter", () => {
  test("shows each interim result with numbers, and a stop only in the final one", () => {
    const words = spokenText("það kostar tvö hundruð og fimmtíu krónur");
    const writer = new LiveWriter(icelandic);
    const shown = words.map((_, index) => textOf(writer.interim(words.slice(0, index + 1))));
    assert.deepEqual(shown, [
      "Það",
      "Það kostar",
      "Það kostar tvö",
      "Það kostar 200",
      "Það kostar 200 og",
      "Það kostar 250",
      "Það kostar 250 kr.",
    ]);
    assert.equal(textOf(writer.final(words)), "Það kostar 250 kr.");
    assert.equal(textOf(writer.final(spokenText("já"))), "Já.");
  });

  test("keeps a telephone number when another number follows it, until the final result", () => {
    const words = spokenText("ring five five five oh one two three five");
    const writer = new LiveWriter(english);
    assert.equal(textOf(writer.interim(words.slice(0, 8))), "Ring 555-0123");
    assert.equal(textOf(writer.interim(words)), "Ring 555-0123 five");
  });

  test("keeps a year when the next word counts by it, until the final result", () => {
    const rows = [
      [english, "in two thousand homes", "In 2000 homes", "In 2,000 homes."],
      [english, "at one twenty three main street", "At 1:23 main street", "At 123 Main Street."],
      [icelandic, "þar búa tvö þúsund og tíu manns", "Þar búa 2010 manns", "Þar búa 2.010 manns."],
    ] as const;
    for (const [options, text, interim, final] of rows) {
      const words = spokenText(text);
      const writer = new LiveWriter(options);
      const shown = words.map((_, index) => textOf(writer.interim(words.slice(0, index + 1))));
      assert.equal(shown.at(-1)?.toLowerCase(), interim.toLowerCase());
      assert.equal(textOf(writer.final(words)), final);
    }
  });

  test("writes a number again when one of its words changes", () => {
    const writer = new LiveWriter(english);
    assert.equal(textOf(writer.interim(spokenText("twenty five"))), "25");
    assert.equal(textOf(writer.interim(spokenText("twenty nine"))), "29");
    assert.equal(textOf(writer.interim(spokenText("plenty of wine"))), "Plenty of wine");
  });

  test("decides once whether a pause ends a sentence, though times move", () => {
    const writer = new LiveWriter(english);
    const words = spokenText("i went out | it was cold");
    assert.equal(textOf(writer.interim(words)), "I went out. It was cold");
    const moved = spokenText("i went out it was cold today");
    assert.equal(textOf(writer.interim(moved)), "I went out. It was cold today");
    assert.equal(textOf(writer.final(moved)), "I went out it was cold today.");
  });

  test("continues a sentence over utterances", () => {
    const writer = new LiveWriter(english);
    assert.equal(textOf(writer.final(spokenText("i came and"))), "I came and");
    assert.equal(textOf(writer.interim(spokenText("they left"))), "they left");
    assert.equal(textOf(writer.final(spokenText("they left"))), "they left.");
    assert.equal(textOf(writer.final(spokenText("we stayed"))), "We stayed.");
  });
});

describe("properties of live writing", () => {
  for (const chosen of [icelandic, english]) {
    test(`${chosen.languageCode}: what a rule wrote stays while no new word joins it`, () => {
      fc.assert(
        fc.property(randomSpeech(), (spoken) => {
          const writer = new LiveWriter(chosen);
          let previous: WrittenWord[] = [];
          for (let count = 1; count <= spoken.length; count += 1) {
            const next = writer.interim(spoken.slice(0, count));
            assert.deepEqual(spokenWords(next), spoken.slice(0, count));
            assertKept(previous, next);
            previous = next;
          }
          const final = writer.final(spoken);
          assert.deepEqual(final, writeWords(spoken, chosen));
        }),
        { numRuns: 500 },
      );
    });
  }
});

/** A formatted text stays, but for a mark after it, unless a new text has more than its words. */
function assertKept(previous: readonly WrittenWord[], next: readonly WrittenWord[]): void {
  const ends = endsOf(next);
  for (const [end, word] of endsOf(previous)) {
    const start = end - word.spoken.length;
    const same = ends.get(end);
    if (word.spokenForm === undefined) continue;
    const isJoined = [...ends].some(
      ([otherEnd, other]) => otherEnd > end && otherEnd - other.spoken.length < end,
    );
    const before = [...ends].some(
      ([otherEnd, other]) => otherEnd > start && otherEnd - other.spoken.length < start,
    );
    if (isJoined || before || (same && same.spoken.length > word.spoken.length)) continue;
    assert.equal(bare(same?.text ?? ""), bare(word.text));
  }
}

function endsOf(words: readonly WrittenWord[]): Map<number, WrittenWord> {
  let end = 0;
  return new Map(words.map((word) => [(end += word.spoken.length), word]));
}

function bare(text: string): string {
  return text.replace(/[.,?]+$/, "");
}
