// What the editor makes of a text by any commands is accepted after each command, as a whole and as
// changes of segments, and words that were not edited keep their times.
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
import type { EditModel, PlainText } from "../fixtures/edit-model.ts";
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

/** What the editor has of a text after a command. */
type State = Pick<EditedState, "base" | "paragraphs" | "retimings">;

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

/** The changes of segments with which a state is saved, and whether the service must accept it. */
function bodyOf({ base, paragraphs, retimings }: State) {
  const changes = changesOf(base, paragraphs, retimings);
  const isGood = findProblems(base, paragraphs, changes, retimings).length === 0;
  return { changes, segments: segmentsAfter(base, changes), status: isGood ? 200 : 400 };
}

/** The number of states that were sent, and of those that the service accepted. */
const counts = { sent: 0, accepted: 0 };

/**
 * Saves the states of a text one after the other as versions of one transcript, each on the version
 * before it. Returns the segments of each, as the service answers them; undefined if it refuses
 * the text for the reasons that the editor finds.
 */
async function saveEach(states: readonly State[]): Promise<(readonly SegmentJson[] | undefined)[]> {
  const made = await create();
  let { version } = made;
  const saved = [];
  for (const state of states) {
    const { segments, status: wanted } = bodyOf(state);
    const path = `${made.path}?updateMask=segments`;
    const headers = { "if-match": version };
    const { status, json } = await service.call("PATCH", path, { segments }, headers);
    assert.equal(status, wanted, JSON.stringify(json).slice(0, 1_000));
    counts.sent += 1;
    if (status === 200) {
      counts.accepted += 1;
      version = json.version.name;
    }
    saved.push(status === 200 ? json.segments : undefined);
  }
  await service.call("DELETE", made.path);
  return saved;
}

/** Saves a text as changes of segments, which must result in the same segments. */
async function saveChanges(
  state: State,
  expected: readonly SegmentJson[] | undefined,
): Promise<void> {
  const { changes, status: wanted } = bodyOf(state);
  if (changes.length === 0) return;
  const made = await create();
  const headers = { "if-match": made.version };
  const path = `${made.path}:modifySegments`;
  const { status, json } = await service.call("POST", path, { changes }, headers);
  assert.equal(status, wanted, JSON.stringify(json).slice(0, 1_000));
  if (expected) assert.deepEqual((await read(made.path)).segments, expected);
  await service.call("DELETE", made.path);
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
function unchangedIn(base: Base, { paragraphs }: State): Map<number, number> {
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

/** Returns the word before a word in its segment. */
function wordBefore(segments: readonly SegmentJson[], word?: WordJson): WordJson | undefined {
  const words = segments.map(({ words = [] }) => words).find((own) => own.some((w) => w === word));
  return words?.[words.findIndex((each) => each === word) - 1];
}

function seconds(duration = "0s"): number {
  return Number.parseFloat(duration);
}

/**
 * Throws unless the words that the service has are those of the model, and unchanged ones have
 * their times. If times were set of words of different speakers that then came into one segment, a
 * word that would start before the word before it is saved with the start of that one. Returns the
 * number of the unchanged words.
 */
function assertSaved(saved: readonly SegmentJson[], state: State, text: PlainText): number {
  const { base } = state;
  const said = saidIn(saved);
  assert.deepEqual(
    said.map(({ text, speaker }) => ({ text, speaker })),
    text.paragraphs.flatMap(({ text, speaker }) =>
      text
        .split(/\s+/)
        .filter(Boolean)
        .map((text) => ({ text, speaker })),
    ),
  );
  const unchanged = unchangedIn(base, state);
  for (const [piece, index] of unchanged) {
    const [word, own] = [said[piece]?.word, base.words[index]];
    const { startTime, endTime } = state.retimings.get(index) ?? own ?? {};
    const before = state.retimings.size > 0 ? wordBefore(saved, word) : undefined;
    const least = before?.startTime;
    const later = (time?: string) => (seconds(least) > seconds(time) ? least : time);
    const times = [word?.startTime, word?.endTime];
    assert.deepEqual(times, [later(startTime), later(endTime)], own?.word);
  }
  return unchanged.size;
}

test("the service accepts what each of any commands makes of a text, and keeps the times of unchanged words", async () => {
  const opened = await create();
  const base = baseOf(opened.segments);
  let unchangedCount = 0;
  await fc.assert(
    fc.asyncProperty(drawnSteps(25), async (commands) => {
      const model = modelOf(base);
      const edited = new EditedState(base, true);
      const states: (State & { readonly text: PlainText })[] = [];
      const keep = (): void => {
        const { paragraphs, retimings } = edited;
        const { text } = model;
        if (text !== states.at(-1)?.text) states.push({ base, paragraphs, retimings, text });
      };
      fc.modelRun(() => ({ model, real: edited }), keptAfter(commands, keep));
      const saved = await saveEach(states);
      for (const [at, state] of states.entries()) {
        const segments = saved[at];
        if (segments) unchangedCount += assertSaved(segments, state, state.text);
      }
      const last = states.at(-1);
      if (last) await saveChanges(last, saved.at(-1));
    }),
    { numRuns: runs(120) },
  );
  const { sent, accepted } = counts;
  assert.ok(accepted > 0.8 * sent, `${accepted} of ${sent} states are accepted`);
  assert.ok(unchangedCount > 100 * accepted, `${unchangedCount} words in ${accepted} texts`);
});

/** Returns the same commands, which call `keep` after they have run. */
function* keptAfter(
  commands: Iterable<fc.Command<EditModel, EditedState>>,
  keep: () => void,
): Generator<fc.Command<EditModel, EditedState>> {
  for (const command of commands) {
    yield {
      check: (model) => command.check(model),
      run(model, edited) {
        command.run(model, edited);
        keep();
      },
      toString: () => command.toString(),
    };
  }
}
