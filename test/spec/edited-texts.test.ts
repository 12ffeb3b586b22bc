// What the editor makes of a text by any commands is accepted, as a whole and as changes of
// segments, and words that were not edited keep their times.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { baseOf, type Base } from "../../src/console/transcript/edit/model/base.ts";
import { changesOf, segmentsAfter } from "../../src/console/transcript/edit/model/changes.ts";
import type {
  SegmentJson,
  WordJson,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { findProblems } from "../../src/console/transcript/edit/model/problems.ts";
import { differentWords } from "../fixtures/different-words.ts";
import { drawnSteps } from "../fixtures/edit-steps.ts";
import { EditedState, modelOf } from "../fixtures/edited-state.ts";
import { runs } from "../fixtures/property-runs.ts";
import { openTestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const service = await openTestService();
after(() => service[Symbol.asyncDispose]());

interface Stored {
  readonly path: string;
  readonly version: string;
  readonly segments: readonly SegmentJson[];
}

async function create(): Promise<Stored> {
  const draft = { ...draftOf("Fundur"), segments: differentWords() };
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts", draft);
  assert.equal(status, 200, JSON.stringify(json));
  return await read(`/v1alpha1/${json.name}`);
}

async function read(path: string): Promise<Stored> {
  const { status, json } = await service.call("GET", path);
  assert.equal(status, 200);
  return { path, version: json.version.name, segments: json.segments };
}

/**
 * Saves a text in both ways, and returns the segments that the service then has; undefined if it
 * refuses the text for the reasons that the editor finds.
 */
async function save({
  base,
  paragraphs,
  retimings,
}: EditedState): Promise<readonly SegmentJson[] | undefined> {
  const changes = changesOf(base, paragraphs, retimings);
  const wanted = findProblems(base, paragraphs, changes, retimings).length === 0 ? 200 : 400;
  const [whole, parts] = [await create(), await create()];
  const body = { segments: segmentsAfter(base, changes) };
  const path = `${whole.path}?updateMask=segments`;
  const { status, json } = await service.call("PATCH", path, body, { "if-match": whole.version });
  assert.equal(status, wanted, JSON.stringify(json).slice(0, 1_000));
  const saved = await read(whole.path);
  if (changes.length > 0) {
    const modify = `${parts.path}:modifySegments`;
    const answer = await service.call("POST", modify, { changes }, { "if-match": parts.version });
    assert.equal(answer.status, wanted, JSON.stringify(answer.json).slice(0, 1_000));
    assert.deepEqual((await read(parts.path)).segments, saved.segments);
  }
  for (const made of [whole, parts]) await service.call("DELETE", made.path);
  return wanted === 200 ? saved.segments : undefined;
}

/** A piece of text between spaces, with the word of the transcript in which it is. */
interface Said {
  readonly text: string;
  readonly speaker: string;
  readonly word?: WordJson;
}

function saidIn(segments: readonly SegmentJson[]): Said[] {
  return segments.flatMap(({ words = [], speakerId: speaker = "" }) => {
    const text = words.map(({ word = "" }) => word).join("");
    let end = 0;
    const ends = words.map((word) => ({ word, end: (end += word.word?.length ?? 0) }));
    return Array.from(text.matchAll(/\S+/g), ({ 0: text, index }) => {
      const word = ends.find((each) => each.end > index)?.word;
      return { text, speaker, ...(word && { word }) };
    });
  });
}

/**
 * Returns the words with which each paragraph begins and ends as its run does: for the index of a
 * piece, that of its word of the base. No command edited these, whatever stands between them.
 */
function unchangedIn(base: Base, { paragraphs }: EditedState): Map<number, number> {
  const unchanged = new Map<number, number>();
  let at = 0;
  for (const { text, from, to } of paragraphs) {
    const pieces = text.split(/\s+/).filter(Boolean);
    const own = base.words.slice(from, to).map(({ word = "" }) => word.trim());
    const length = Math.min(pieces.length, own.length);
    let head = 0;
    while (head < length && pieces[head] === own[head]) head++;
    let tail = 0;
    while (tail < length - head && pieces.at(-1 - tail) === own.at(-1 - tail)) tail++;
    for (let index = 0; index < head; index++) unchanged.set(at + index, from + index);
    for (let index = 1; index <= tail; index++)
      unchanged.set(at + pieces.length - index, to - index);
    at += pieces.length;
  }
  return unchanged;
}

test("the service accepts what any commands make of a text, and keeps the times of unchanged words", async () => {
  const opened = await create();
  const base = baseOf(opened.segments);
  let [unchangedCount, savedCount] = [0, 0];
  await fc.assert(
    fc.asyncProperty(drawnSteps(25), async (commands) => {
      const model = modelOf(base);
      const edited = new EditedState(base, true);
      fc.modelRun(() => ({ model, real: edited }), commands);
      const saved = await save(edited);
      if (!saved) return;
      const said = saidIn(saved);
      savedCount += 1;
      assert.deepEqual(
        said.map(({ text, speaker }) => ({ text, speaker })),
        model.text.paragraphs.flatMap(({ text, speaker }) =>
          text
            .split(/\s+/)
            .filter(Boolean)
            .map((text) => ({ text, speaker })),
        ),
      );
      for (const [piece, index] of unchangedIn(base, edited)) {
        const [word, own] = [said[piece]?.word, base.words[index]];
        const set = edited.retimings.get(index);
        assert.deepEqual(
          [word?.startTime, word?.endTime],
          [set?.startTime ?? own?.startTime, set?.endTime ?? own?.endTime],
          own?.word,
        );
        unchangedCount += 1;
      }
    }),
    { numRuns: runs(120) },
  );
  assert.ok(unchangedCount > 100 * savedCount, `${unchangedCount} words in ${savedCount} texts`);
});
