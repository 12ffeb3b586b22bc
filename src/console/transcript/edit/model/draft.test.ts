import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawnEdits } from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, paragraphsOf, type Base } from "./base.ts";
import { draftBytesMax, DraftError, encodeDraft, readDraft, restoredDraft } from "./draft.ts";

const version = "0190f5a0";

/** A base of 400 words: a segment of 300, and one of 100. */
function longBase(): Base {
  const word = { startTime: "1s", endTime: "2s", word: "orð. " };
  const segmentOf = (count: number) => ({
    startTime: "0s",
    endTime: "9s",
    words: Array.from({ length: count }, () => word),
    speakerId: "1",
  });
  return baseOf([segmentOf(300), segmentOf(100)]);
}

test("a draft restores the edited text", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      // Only a text without words may have no paragraphs.
      fc.pre(paragraphs.length > 0);
      const draft = readDraft(encodeDraft({ base, version, paragraphs, retimings }));
      assert.equal(draft.version, version);
      const restored = restoredDraft(draft, base);
      assert.deepEqual(restored.paragraphs, paragraphs);
      assert.deepEqual(restored.retimings, retimings);
    }),
    { numRuns: runs(400) },
  );
});

test("a draft contains only paragraphs that were edited", () => {
  const base = longBase();
  const paragraphs = paragraphsOf(base);
  assert.equal(paragraphs.length, 3);
  const edited = paragraphs.map((one, at) => (at === 1 ? { ...one, text: "Breytt." } : one));
  const { parts } = readDraft(encodeDraft({ base, version, paragraphs: edited }));
  assert.deepEqual(parts, [
    { from: 0, to: 150 },
    { text: "Breytt.", speaker: "1", from: 150, to: 300, isSoft: true },
    { from: 300, to: 400 },
  ]);
  const untouched = readDraft(encodeDraft({ base, version, paragraphs }));
  assert.deepEqual(untouched.parts, [{ from: 0, to: 400 }]);
});

test("a range of words that ends within a paragraph is restored", () => {
  const base = longBase();
  const draft = readDraft(encodeDraft({ base, version, paragraphs: paragraphsOf(base) }));
  const parts = [
    { from: 0, to: 140 },
    { text: "x", speaker: "", from: 140, to: 160, isSoft: false },
    { from: 160, to: 400 },
  ];
  const { paragraphs } = restoredDraft({ ...draft, parts }, base);
  assert.deepEqual(
    paragraphs.map(({ from, to, isSoft }) => [from, to, isSoft]),
    [
      [0, 140, false],
      [140, 160, false],
      [160, 300, true],
      [300, 400, false],
    ],
  );
});

test("readDraft() and restoredDraft() refuse what is not a draft of the base", () => {
  const base = longBase();
  const good = {
    format: 1,
    version,
    words: 400,
    chars: 2000,
    parts: [{ from: 0, to: 400 }],
    times: [],
  };
  const refused = (json: string): string => {
    try {
      restoredDraft(readDraft(json), base);
      return "accepted";
    } catch (error) {
      assert.ok(error instanceof DraftError, String(error));
      return error.reason;
    }
  };
  const paragraph = { text: "x", speaker: "", from: 0, to: 400, isSoft: false };
  const pin = { from: 0, to: 1, startTime: "1s", endTime: "2.5s" };
  const rows: [change: object, reason: string][] = [
    [{}, "accepted"],
    [{ times: [[399, "1s", "2.5s"]] }, "accepted"],
    [{ parts: [paragraph] }, "accepted"],
    [{ parts: [{ ...paragraph, pins: [pin] }] }, "accepted"],
    [{ parts: [{ ...paragraph, pins: [] }] }, "damaged"],
    [{ parts: [{ ...paragraph, pins: [{ ...pin, to: 2 }] }] }, "damaged"],
    [{ parts: [{ ...paragraph, pins: [pin, pin] }] }, "damaged"],
    [{ parts: [{ ...paragraph, pins: [{ ...pin, endTime: "soon" }] }] }, "damaged"],
    [{ format: 2 }, "newerFormat"],
    [{ format: 2, parts: "other" }, "newerFormat"],
    [{ format: "1" }, "damaged"],
    [{ format: undefined }, "damaged"],
    [{ version: 7 }, "damaged"],
    [{ words: 399 }, "damaged"],
    [{ words: 401, parts: [{ from: 0, to: 401 }] }, "otherBase"],
    [{ chars: 1 }, "otherBase"],
    [{ chars: -1 }, "damaged"],
    [{ words: 400.5 }, "damaged"],
    [{ parts: [] }, "damaged"],
    [{ parts: {} }, "damaged"],
    [{ parts: [null] }, "damaged"],
    [{ parts: [{ from: 1, to: 400 }] }, "damaged"],
    [{ parts: [{ from: 0, to: 399 }] }, "damaged"],
    [
      {
        parts: [
          { from: 0, to: 200 },
          { from: 201, to: 400 },
        ],
      },
      "damaged",
    ],
    [
      {
        parts: [
          { from: 0, to: 200 },
          { from: 199, to: 400 },
        ],
      },
      "damaged",
    ],
    [
      {
        parts: [
          { from: 0, to: 400 },
          { from: 400, to: 300 },
        ],
      },
      "damaged",
    ],
    [{ parts: [{ ...paragraph, text: 5 }] }, "damaged"],
    [{ parts: [{ ...paragraph, text: null }] }, "damaged"],
    [{ parts: [{ ...paragraph, speaker: undefined }] }, "damaged"],
    [{ parts: [{ ...paragraph, isSoft: 0 }] }, "damaged"],
    [{ times: [[400, "1s", "2s"]] }, "damaged"],
    [{ times: [[-1, "1s", "2s"]] }, "damaged"],
    [{ times: [[1, "1", "2s"]] }, "damaged"],
    [{ times: [[1, "-1s", "2s"]] }, "damaged"],
    [{ times: [[1, "1s"]] }, "damaged"],
    [{ times: [7] }, "damaged"],
    [{ times: null }, "damaged"],
  ];
  for (const [change, reason] of rows) {
    const json = JSON.stringify({ ...good, ...change });
    assert.equal(refused(json), reason, json);
  }
  for (const json of ["", "{", "null", "[]", "7", '"x"'])
    assert.equal(refused(json), "damaged", json);
  const whole = JSON.stringify(good);
  for (let end = 0; end < whole.length; end += 1) {
    assert.equal(refused(whole.slice(0, end)), "damaged");
  }
  assert.equal(refused(JSON.stringify({ ...good, more: "x".repeat(draftBytesMax) })), "tooLarge");
  const large = [{ ...paragraph, text: "þ".repeat(draftBytesMax / 2) }];
  assert.throws(() => encodeDraft({ base, version, paragraphs: large }), /at most 67108864/);
});
