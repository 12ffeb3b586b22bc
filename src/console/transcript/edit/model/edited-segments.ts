import type {
  SegmentJson,
  WordJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../../text/numbers.ts";
import { segmentOfWord, textOfRun, type Base, type EditedParagraph } from "./base.ts";
import { endOfWord, startOfWord, type Retimings } from "./retimings.ts";
import { timesOf, type TimedWord } from "./times.ts";

/** A segment of the edited text. */
export interface EditedSegment {
  readonly json: SegmentJson;
  /** The index of this segment in the base; undefined if it has changed. */
  readonly index: number | undefined;
}

/**
 * Returns the segments of an edited text, and yields before each. Those that were not edited are
 * the very objects of the base. The times of a segment are those of the base where it begins or
 * ends as a segment of the base, and else those of its words.
 */
export function* editedSegmentSteps(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  retimings: Retimings,
): Generator<void, EditedSegment[], void> {
  const retimed = retimedSegments(base, retimings);
  const wordless = base.segments.flatMap(({ words = [] }, index) =>
    words.length === 0 ? [index] : [],
  );
  const segments: EditedSegment[] = [];
  let nextWordless = 0;
  const addWordless = (edge: number): void => {
    for (; nextWordless < wordless.length; nextWordless += 1) {
      const index = wordless[nextWordless] ?? 0;
      const json = base.segments[index];
      if (!json || (base.firsts[index] ?? 0) > edge) return;
      segments.push({ json, index });
    }
  };
  for (const group of groupsOf(paragraphs)) {
    yield;
    addWordless(runOf(group).from);
    const whole = wholeSegment(base, group);
    const own = whole === undefined ? undefined : base.segments[whole];
    if (own && whole !== undefined && !retimed.has(whole) && saysSame(base, group, whole)) {
      segments.push({ json: own, index: whole });
      continue;
    }
    const json = knownJson(base, group, retimings);
    if (!json) continue;
    segments.push({ json, index: json === own ? whole : undefined });
  }
  addWordless(base.words.length);
  yield;
  return inOrder(segments);
}

interface KnownJson {
  readonly base: Base;
  readonly group: readonly EditedParagraph[];
  readonly retimings: Retimings;
  readonly json: SegmentJson | undefined;
}

const known = new WeakMap<EditedParagraph, KnownJson>();

/**
 * Returns the segment of a group: that of the base if it is the same, and the same object as before
 * if nothing in it has changed.
 */
function knownJson(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): SegmentJson | undefined {
  const [first] = group;
  const before = first && known.get(first);
  const isSame =
    before?.base === base &&
    before.retimings === retimings &&
    before.group.length === group.length &&
    group.every((paragraph, at) => paragraph === before.group[at]);
  if (isSame) return before.json;
  const made = segmentJson(base, group, retimings);
  const whole = wholeSegment(base, group);
  const own = whole === undefined ? undefined : base.segments[whole];
  const json = made && own && JSON.stringify(own) === JSON.stringify(made) ? own : made;
  if (first) known.set(first, { base, group, retimings, json });
  return json;
}

/** Returns the words of a segment of the edited text, with their times as they are saved. */
export function wordsOfSegment(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): readonly WordJson[] {
  const whole = wholeSegment(base, group);
  const isSame = whole !== undefined && retimings.size === 0 && saysSame(base, group, whole);
  const words = isSame ? base.segments[whole]?.words : segmentJson(base, group, retimings)?.words;
  return words ?? [];
}

/** Returns the paragraphs of each segment. All paragraphs of a segment have one speaker. */
export function groupsOf(paragraphs: readonly EditedParagraph[]): EditedParagraph[][] {
  const groups: EditedParagraph[][] = [];
  for (const paragraph of paragraphs) {
    const group = groups.at(-1);
    if (group && paragraph.isSoft && group[0]?.speaker === paragraph.speaker) group.push(paragraph);
    else groups.push([paragraph]);
  }
  return groups;
}

export function runOf(group: readonly EditedParagraph[]): { from: number; to: number } {
  return { from: group[0]?.from ?? 0, to: group.at(-1)?.to ?? 0 };
}

/**
 * Returns the text of a segment. A paragraph whose last word lacks a space gets one, unless the
 * words at this place were not separated by a space before.
 */
export function textOfGroup(base: Base, group: readonly EditedParagraph[]): string {
  let text = "";
  for (const paragraph of group) text += spaceBefore(base, text, paragraph) + paragraph.text;
  return text;
}

function spaceBefore(base: Base, before: string, { text, from }: EditedParagraph): "" | " " {
  if (before === "" || text === "" || /\s$/.test(before) || /^\s/.test(text)) return "";
  if (from === 0 || from >= base.words.length) return " ";
  const isOneSegment = segmentOfWord(base, from - 1) === segmentOfWord(base, from);
  return isOneSegment && !/\s/.test(textAround(base, from)) ? "" : " ";
}

/** Returns the characters before and after an edge of the base. */
function textAround({ text, offsets }: Base, edge: number): string {
  const at = offsets[edge] ?? 0;
  return text.slice(Math.max(0, at - 1), at + 1);
}

function retimedSegments(base: Base, retimings: Retimings): Set<number> {
  return new Set(Array.from(retimings.keys(), (word) => segmentOfWord(base, word)));
}

/** Returns the index of the segment that has the run of a group; undefined if there is none. */
function wholeSegment(base: Base, group: readonly EditedParagraph[]): number | undefined {
  const { from, to } = runOf(group);
  if (from >= to) return undefined;
  const index = segmentOfWord(base, from);
  return base.firsts[index] === from && base.firsts[index + 1] === to ? index : undefined;
}

/** Whether nothing but whitespace at the end of a segment has been edited. */
function saysSame(base: Base, group: readonly EditedParagraph[], index: number): boolean {
  if (group.some(({ pins }) => pins !== undefined)) return false;
  if ((base.segments[index]?.speakerId ?? "") !== (group[0]?.speaker ?? "")) return false;
  const { from, to } = runOf(group);
  const [before, after] = [textOfRun(base, from, to), textOfGroup(base, group)];
  return before === after || before.trimEnd() === after.trimEnd();
}

/** Returns the segment of a group that has changed; undefined if no words are left. */
function segmentJson(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): SegmentJson | undefined {
  const words = wordsOfGroup(base, group, retimings);
  const { from, to } = runOf(group);
  const isBlank = words.every(({ word = "" }) => word.trim() === "");
  if (isBlank && (from >= to || textOfGroup(base, group) !== textOfRun(base, from, to))) {
    return undefined;
  }
  let startTime = words[0]?.startTime ?? "0s";
  let endTime = startTime;
  for (const word of words) endTime = laterOf(endTime, word.endTime);
  for (let index = segmentOfWord(base, from); index < base.segments.length; index += 1) {
    const { startTime: start, endTime: end } = base.segments[index] ?? {};
    const [first = 0, last = 0] = [base.firsts[index], base.firsts[index + 1]];
    if (first >= to) break;
    if (first === from) startTime = earlierOf(startTime, start);
    if (last <= to && last > from) endTime = laterOf(endTime, end);
  }
  const speakerId = group[0]?.speaker ?? "";
  return { startTime, endTime, words, speakerId };
}

function wordsOfGroup(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): WordJson[] {
  const timed: TimedWord[] = [];
  let text = "";
  for (const [at, paragraph] of group.entries()) {
    const space = spaceBefore(base, text, paragraph);
    const last = timed.at(-1);
    if (space !== "" && last) timed[timed.length - 1] = { ...last, text: last.text + space };
    // The first paragraph begins the segment, even if it has continued one before its speaker was
    // changed.
    const own = at === 0 && paragraph.isSoft ? { ...paragraph, isSoft: false } : paragraph;
    for (const word of timesOf(base, own, retimings)) timed.push(word);
    text += space + paragraph.text;
  }
  let earliest = { seconds: 0, text: "0s" };
  return timed.map((word, at) => {
    if (word.start >= earliest.seconds) {
      earliest = { seconds: word.start, text: word.startTime };
      return wordJson(base, { word, isLast: at === timed.length - 1, retimings });
    }
    const endTime = word.end < earliest.seconds ? earliest.text : word.endTime;
    const json = wordJson(base, { word, isLast: at === timed.length - 1, retimings });
    return { ...json, startTime: earliest.text, endTime };
  });
}

/**
 * Returns a word. An unchanged one keeps all its fields, except that times that were set are not
 * estimated any more, and its space at the end of a segment.
 */
function wordJson(
  base: Base,
  {
    word: { text, startTime, endTime, word, isUnchanged, isEstimated, isPinned },
    isLast,
    retimings,
  }: { readonly word: TimedWord; readonly isLast: boolean; readonly retimings: Retimings },
): WordJson {
  const json = isUnchanged && word !== undefined ? base.words[word] : undefined;
  const mark = isEstimated && { estimatedTimes: true };
  if (!json || word === undefined) return { startTime, endTime, word: text, ...mark };
  const wasLast = base.firsts[segmentOfWord(base, word) + 1] === word + 1;
  const said = isLast && wasLast ? text.trimEnd() + spaceAfter(json.word) : text;
  const times = isPinned
    ? { startTime, endTime }
    : {
        startTime: startOfWord(base, retimings, word).text,
        endTime: endOfWord(base, retimings, word).text,
      };
  const isSame =
    said === (json.word ?? "") &&
    times.startTime === json.startTime &&
    times.endTime === json.endTime;
  if (isSame) return json;
  const { estimatedTimes: _own, ...kept } = json;
  return { ...kept, startTime, endTime, word: said, ...mark };
}

function spaceAfter(word = ""): string {
  return word.slice(word.trimEnd().length);
}

/** Segments must be in the order of their starts, so a segment begins before all later ones. */
function inOrder(segments: readonly EditedSegment[]): EditedSegment[] {
  let latest: string | undefined;
  return segments
    .toReversed()
    .map((segment) => {
      const { startTime = "0s" } = segment.json;
      latest = latest === undefined ? startTime : earlierOf(latest, startTime);
      if (secondsOf(latest) === secondsOf(startTime)) return segment;
      return { json: { ...segment.json, startTime: latest }, index: undefined };
    })
    .toReversed();
}

function earlierOf(one: string, other = "0s"): string {
  return secondsOf(other) < secondsOf(one) ? other : one;
}

function laterOf(one: string, other = "0s"): string {
  return secondsOf(other) > secondsOf(one) ? other : one;
}
