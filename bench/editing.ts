// Measures the model of the console's editor in CPU time: the times of one paragraph, what is saved
// of 8 hours of speech, and a merge with 500 changes on each side.
//
// Usage: npm run bench:editing
import { baseOf, paragraphsOf, textOfRun } from "../src/console/transcript/edit/model/base.ts";
import { changesOf, segmentsAfter } from "../src/console/transcript/edit/model/changes.ts";
import { encodeDraft } from "../src/console/transcript/edit/model/draft.ts";
import { merge } from "../src/console/transcript/edit/model/merge.ts";
import { rebased } from "../src/console/transcript/edit/model/rebase.ts";
import { timesOf } from "../src/console/transcript/edit/model/times.ts";
import { cpuMs } from "../test/fixtures/cpu-time.ts";
import { longSegments } from "../test/fixtures/long-transcript.ts";
import { report, reportMachine } from "./report.ts";

const words = 72_000;
const changes = 500;
const rounds = 5;

/** Returns the CPU time of work in milliseconds: the median of several rounds. */
function cost(work: () => unknown, times = 1): number {
  const found = Array.from({ length: rounds }, () => {
    const before = cpuMs();
    for (let time = 0; time < times; time += 1) work();
    return (cpuMs() - before) / times;
  });
  return found.toSorted((one, other) => one - other)[rounds >> 1] ?? NaN;
}

const base = baseOf(longSegments(words));
const paragraphs = paragraphsOf(base);

/** Replaces the second word of every sixth paragraph, beginning with one of the first six. */
function edited(first: number, word: string) {
  return paragraphs.map((paragraph, at) => {
    const isEdited = at % 6 === first && at < changes * 6;
    return isEdited ? { ...paragraph, text: paragraph.text.replace(/ \S+ /, word) } : paragraph;
  });
}

const mine = edited(0, " nýtt orð ");
const theirs = baseOf(segmentsAfter(base, changesOf(base, edited(3, " annað "))));
const clashing = baseOf(segmentsAfter(base, changesOf(base, edited(0, " annað "))));
const saved = baseOf(segmentsAfter(base, changesOf(base, mine)));
const run = { from: 0, to: 150, speaker: "", isSoft: false };
const said = textOfRun(base, 0, 150);
const one = { ...run, text: said.replace(/ \S+ /, " nýtt ") };
const third = said
  .split(" ")
  .map((word, at) => (at % 3 === 1 ? `${word}x` : word))
  .join(" ");
const other = textOfRun(base, 40_000, 40_150);

reportMachine();
const ms = (name: string, ratio: number, ratioMax: number, note: string) => ({
  name,
  ratio,
  ratioMax,
  unit: "ms",
  note,
});
report([
  ms(
    "times, one word",
    cost(() => timesOf(base, one), 50),
    2,
    "of 150",
  ),
  ms(
    "times, every third word",
    cost(() => timesOf(base, { ...run, text: third }), 50),
    4,
    "of 150",
  ),
  ms(
    "times, another text",
    cost(() => timesOf(base, { ...run, text: other }), 50),
    4,
    "150 words",
  ),
  ms(
    "changes",
    cost(() => changesOf(base, mine)),
    300,
    `${changes} of ${paragraphs.length}`,
  ),
  ms(
    "changes of nothing",
    cost(() => changesOf(base, paragraphs)),
    50,
    `${words} words`,
  ),
  ms(
    "draft",
    cost(() => encodeDraft({ base, version: "1", paragraphs: mine })),
    20,
    "500 changes",
  ),
  ms(
    "moved to the saved version",
    cost(() => rebased({ base, paragraphs: mine, saved })),
    1000,
    "",
  ),
  ms(
    "merge",
    cost(() => merge({ base, paragraphs: mine, theirs })),
    1000,
    "500 changes a side",
  ),
  ms(
    "merge that clashes",
    cost(() => merge({ base, paragraphs: mine, theirs: clashing })),
    1000,
    "",
  ),
]);
