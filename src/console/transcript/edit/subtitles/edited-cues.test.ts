import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { subtitlesOf } from "../../../../cues/subtitles.ts";
import { drawnEdits } from "../../../../../test/fixtures/edited-texts.ts";
import { longSegments } from "../../../../../test/fixtures/long-transcript.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { timedSegments } from "../../subtitles/timed-segments.ts";
import { baseOf, paragraphsOf } from "../model/base.ts";
import { changesOf, segmentsAfter } from "../model/changes.ts";
import { noRetimings } from "../model/retimings.ts";
import { type CuttableText, type CutText, EditedCues } from "./edited-cues.ts";

function cutWhole(cutter: EditedCues, text: CuttableText): CutText {
  const cutting = cutter.cut(text);
  for (;;) {
    const step = cutting.next();
    if (step.done) return step.value;
  }
}

test("the cues of an edited text are those of the saved version, and their places are where their words are", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      const limitMs = 90_000;
      const cutter = new EditedCues();
      const first = { base, paragraphs: paragraphsOf(base), retimings: noRetimings, limitMs };
      cutWhole(cutter, first);
      const cut = cutWhole(cutter, { base, paragraphs, retimings, limitMs });
      const saved = segmentsAfter(base, changesOf(base, paragraphs, retimings));
      assert.deepEqual(cut.cues, subtitlesOf(timedSegments(saved), limitMs));
      for (const [at, { lines }] of cut.cues.entries()) {
        const place = cut.placeOf(at);
        assert.ok(place && paragraphs.includes(place.paragraph));
        assert.equal(place.paragraph.text[place.offset], lines.join("").trimStart()[0]);
        assert.equal(cut.indexAt(place), at);
      }
      assert.deepEqual(cutWhole(cutter, first).cues, cutWhole(new EditedCues(), first).cues);
    }),
    { numRuns: runs(300) },
  );
});

test("the rules that cues break follow the edits, and a place that is newer than the cues has none", () => {
  const base = baseOf(longSegments(200));
  const paragraphs = paragraphsOf(base);
  const [one, ...others] = paragraphs;
  assert.ok(one);
  const cutter = new EditedCues();
  const text = { base, retimings: noRetimings, limitMs: Infinity };
  const before = cutWhole(cutter, { ...text, paragraphs });
  assert.deepEqual(before.broken, []);
  const longer = { ...one, text: `${"þingmannafrumvarpaskráning ".repeat(20)}${one.text}` };
  assert.equal(before.indexAt({ paragraph: longer, offset: 0 }), undefined);
  const after = cutWhole(cutter, { ...text, paragraphs: [longer, ...others] });
  assert.ok(after.broken.includes(0));
  const [cue] = after.cues;
  assert.ok(cue);
  assert.ok(cutter.rulesOf(cue).some(({ rule }) => rule === "charsPerSecond"));
  assert.equal(after.indexAt({ paragraph: longer, offset: 3 }), 0);
  const last = after.indexAt({ paragraph: longer, offset: longer.text.length });
  assert.ok(last !== undefined && last > 10);
});

test("a text of eight hours is cut again after a change in a small part of the time", () => {
  const base = baseOf(longSegments(72_000));
  const paragraphs = paragraphsOf(base);
  const text = { base, retimings: noRetimings, limitMs: Infinity };
  const cutter = new EditedCues();
  const spent = (paragraphs: CuttableText["paragraphs"]): number => {
    const { user } = process.cpuUsage();
    cutWhole(cutter, { ...text, paragraphs });
    return process.cpuUsage().user - user;
  };
  const whole = spent(paragraphs);
  const [one] = paragraphs;
  assert.ok(one);
  const again = [0, 1, 2].map((round) =>
    spent(paragraphs.with(0, { ...one, text: `Já ${"og ".repeat(round)}${one.text}` })),
  );
  const least = Math.min(...again);
  assert.ok(least < whole / 3, `${least} µs after ${whole} µs`);
});
