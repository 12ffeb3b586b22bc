import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { icelandic } from "./icelandic/icelandic.ts";
import { english } from "./english/english.ts";
import {
  leavesOpen,
  spokenWords,
  writeWords,
  type SpokenWord,
  type WritingOptions,
} from "./write-words.ts";
import { randomSpeech, spokenText } from "../../test/fixtures/random-speech.ts";

const all: WritingOptions = {
  languageCode: "is-IS",
  formats: true,
  punctuation: true,
  masksProfanity: false,
};

function written(text: string, options: Partial<WritingOptions> = {}): string {
  return writeWords(spokenText(text), { ...all, ...options })
    .map((word) => word.text)
    .join(" ");
}

describe("writeWords()", () => {
  test("gives a number of four words their span, their lowest confidence and their words", () => {
    const spoken = spokenText("tvö hundruð og fimmtíu krónur").map((word, index) => ({
      ...word,
      confidence: 0.9 - index / 10,
    }));
    const found = writeWords(spoken, { ...all, punctuation: false });
    assert.deepEqual(found, [
      {
        text: "250",
        startMs: 0,
        endMs: 1350,
        confidence: 0.9 - 0.3,
        spoken: spoken.slice(0, 4),
        spokenForm: "tvö hundruð og fimmtíu",
      },
      {
        text: "kr.",
        startMs: 1400,
        endMs: 1700,
        confidence: 0.5,
        spoken: spoken.slice(4),
        spokenForm: "krónur",
      },
    ]);
  });

  test("has no confidence where a spoken word has none", () => {
    const [first, ...rest] = spokenText("tuttugu og einn");
    assert.ok(first);
    const [found] = writeWords([{ ...first, confidence: 1 }, ...rest], all);
    assert.equal(found?.text, "21.");
    assert.equal(found?.confidence, undefined);
  });

  test("leaves the words as they are when everything is off", () => {
    const options = { formats: false, punctuation: false };
    assert.equal(written("jón á tuttugu krónur", options), "jón á tuttugu krónur");
  });

  test("writes numbers without capitals and stops, and these without numbers", () => {
    assert.equal(written("jón á tuttugu krónur", { punctuation: false }), "jón á 20 kr.");
    assert.equal(written("jón á tuttugu krónur", { formats: false }), "Jón á tuttugu krónur.");
  });

  test("leaves other languages as they are", () => {
    const text = "j'ai vingt et un ans";
    assert.equal(written(text, { languageCode: "fr-FR" }), text);
  });

  test("writes one sentence when texts are in capitals only", () => {
    const options = { languageCode: "en-US" };
    assert.equal(written("I PAID TWENTY DOLLARS TO JOHN", options), "I paid $20 to John.");
  });

  test("keeps the capitals and marks that a model has written, and its numbers apart", () => {
    const options = { languageCode: "en-US" };
    const text = "Hello, Zoe. She paid Twenty Dollars, then twenty.";
    assert.equal(written(text, options), "Hello, Zoe. She paid $20, then 20.");
    assert.equal(written("Twenty. Five", options), "20. Five");
  });

  test("writes a sentence with names that have the capitals of hints", () => {
    const options = { languageCode: "en-US" };
    const text = "i met Siobhan Kowalczyk at the station";
    assert.equal(written(text, options), "I met Siobhan Kowalczyk at the station.");
    assert.equal(written("hún heitir Guðrún Ósvífursdóttir"), "Hún heitir Guðrún Ósvífursdóttir.");
    assert.equal(written("She met Zoe there", options), "She met Zoe there");
  });

  test("masks offensive words except for their first letter", () => {
    const masks = { masksProfanity: true };
    assert.equal(written("andskotinn sagði hann", masks), "A********* sagði hann.");
    const options = { ...masks, languageCode: "en-US", punctuation: false };
    assert.equal(written("this shit is classic", options), "this s*** is classic");
    assert.equal(written("shit happens", { languageCode: "en-US" }), "Shit happens.");
    const found = writeWords(spokenText("shit happens"), { ...all, ...options });
    assert.deepEqual(
      found.map(({ spokenForm }) => spokenForm),
      [undefined, undefined],
    );
  });

  test("continues the sentence of an utterance that ended with a conjunction", () => {
    const options = { ...all, languageCode: "en-US" };
    const first = spokenText("i came and");
    assert.equal(leavesOpen(first, "en-US"), true);
    assert.equal(leavesOpen(spokenText("i came"), "en-US"), false);
    const [next] = writeWords(spokenText("they left"), options, { continues: true });
    assert.equal(next?.text, "they");
  });

  test("accepts words of any kind", () => {
    const texts = ["", " ", "…", "🙂", "\u0000", "İ", "ß", "...", "a\nb", "250", "-", "toString"];
    for (const languageCode of ["is-IS", "en-US"]) {
      const spoken = texts.map((text) => ({ text, startMs: 0, endMs: 0 }));
      const found = writeWords(spoken, { ...all, languageCode, masksProfanity: true });
      assert.deepEqual(spokenWords(found), spoken);
    }
    assert.deepEqual(writeWords([], all), []);
  });
});

describe("properties of writing", () => {
  const optionsOf = fc.record({
    languageCode: fc.constantFrom("is-IS", "en-US", "fr-FR"),
    formats: fc.boolean(),
    punctuation: fc.boolean(),
    masksProfanity: fc.boolean(),
  });

  test("the spoken words come back exactly", () => {
    fc.assert(
      fc.property(randomSpeech(), optionsOf, fc.boolean(), (spoken, options, isOpen) => {
        const found = writeWords(spoken, options, { isOpen });
        assert.deepEqual(spokenWords(found), spoken);
        for (const { text, startMs, endMs, spoken } of found) {
          assert.equal(startMs, spoken[0]?.startMs);
          assert.equal(endMs, spoken.at(-1)?.endMs);
          assert.ok(!/\s/.test(text), text);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("words other than numbers and names never change, vanish or move", () => {
    const plainOf = fc.constantFrom("hestur", "gengur", "hægt", "horse", "walks", "slowly", "x1");
    fc.assert(
      fc.property(randomSpeech(plainOf), optionsOf, (spoken, options) => {
        const isPlain = ({ text }: SpokenWord) => plainWords.has(text);
        const before = spoken.filter(isPlain).map(({ text }) => text);
        const after = writeWords(spoken, options).flatMap((word) => {
          const [first] = word.spoken;
          if (word.spoken.length > 1) {
            assert.deepEqual(word.spoken.filter(isPlain), []);
            return [];
          }
          return first && isPlain(first) ? [word.text.toLowerCase().replace(/[.,?]$/, "")] : [];
        });
        assert.deepEqual(after, before);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a text that was written stays as it is when it is written again", () => {
    const texts = [
      "Ég á 250 kr. og 3,5% í 21. janúar kl. 2.30.",
      "It's $250 and 3.5% at 3:30 p.m.",
    ];
    for (const [index, text] of texts.entries()) {
      assert.equal(written(text, { languageCode: index === 0 ? "is-IS" : "en-US" }), text);
    }
  });

  test("ten times the words take at most four times as long per word, even in endless numbers", () => {
    for (const unit of [
      "tuttugu ",
      "og hundrað og ",
      "er það ekki ",
      "one oh a b may ",
      "hundraðasta ",
    ]) {
      const languageCode = unit.startsWith("one") ? "en-US" : "is-IS";
      const run = (count: number): number => {
        const spoken = spokenText(unit.repeat(count).trim());
        const start = process.cpuUsage();
        writeWords(spoken, { ...all, languageCode });
        const { user, system } = process.cpuUsage(start);
        return (user + system) / spoken.length;
      };
      const fastest = (count: number) => Math.min(...[1, 2, 3].map(() => run(count)));
      const small = fastest(1_500);
      const large = fastest(15_000);
      assert.ok(large < 4 * small, `${unit}: ${small} and ${large} µs per word`);
    }
  });
});

test("no rule of a language writes a text with a space", () => {
  for (const language of [icelandic, english]) {
    for (const rule of language.rules) {
      for (const first of ["klukkan", "fimm", "til", "five", "two", "january", "doctor", "minus"]) {
        for (const second of ["hálf", "dæmi", "hundruð", "smith", "dollars", "first", "fimm"]) {
          const pieces = rule([first, second, "þrjú", "million"], 0) ?? [];
          for (const { text, count } of pieces) {
            assert.ok(count > 0 && !text.includes(" "), text);
          }
        }
      }
    }
  }
});

const plainWords = new Set(["hestur", "gengur", "hægt", "horse", "walks", "slowly", "x1"]);
