import type { Base, EditedParagraph } from "./base.ts";
import { later, momentAt, momentWithin, type Moment } from "./moment.ts";
import type { WordTimes } from "./retimings.ts";
import { type TimedWord, wordAtOffset } from "./times.ts";

/** How far a time can be from the wanted one by rounding to milliseconds, in seconds. */
const roundingMax = 0.0005 + 1e-9;

/** The time of a word that is set. */
export type Edge = "start" | "end";

/** How a time is set: moved by seconds, or to a second of the recording. */
export type TimeMove = { readonly edge: Edge } & (
  | { readonly by: number }
  | { readonly at: number }
);

/** Why a time was not moved as far as it was wanted. */
export interface Stop {
  /**
   * "previous", "next": the neighboring word; "self": the end cannot be before the start;
   * "recording": its start or end; "order": paragraphs are in the order of their starts.
   */
  readonly by: "previous" | "next" | "self" | "recording" | "order";
  /** The neighboring word; "" for the other reasons. */
  readonly word: string;
}

/** What became of the time of a word. */
export type Retimed =
  | { readonly kind: "none" }
  | {
      readonly kind: "set";
      readonly text: string;
      /** The index of the word in the base; undefined if it was typed, and gets a pin. */
      readonly word: number | undefined;
      /** Where the word is in the text of its paragraph, without the whitespace around it. */
      readonly range: { readonly from: number; readonly to: number };
      readonly before: WordTimes;
      readonly after: WordTimes;
      /** The time that was set, in seconds: before and now, which may be the same. */
      readonly from: number;
      readonly to: number;
      /** Whether the times were estimated or computed until now. */
      readonly wasEstimated: boolean;
      readonly stop?: Stop;
    };

/** An edited text with the times of its words. */
export interface TimedText {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly wordsOf: (paragraph: EditedParagraph) => readonly TimedWord[];
}

/**
 * Sets the start or the end of the word at an offset of a paragraph, in milliseconds, as near to
 * the wanted time as its neighbors allow: a word does not begin before the previous word has ended,
 * nor end after the next one has begun. Words that overlap already may do so, but no further, and
 * people may interrupt each other. A start after the end moves the end. `latest` is the end of the
 * recording in seconds, if it is known.
 */
export function retimed(
  text: TimedText,
  { paragraph: at, offset }: { readonly paragraph: number; readonly offset: number },
  { move, latest = Infinity }: { readonly move: TimeMove; readonly latest?: number },
): Retimed {
  const paragraph = text.paragraphs[at];
  const words = paragraph ? text.wordsOf(paragraph) : [];
  const index = wordAtOffset(words, offset);
  const own = words[index];
  const said = own?.text.trim() ?? "";
  if (!own || said === "") return { kind: "none" };
  const { edge } = move;
  const [start, end] = [startOf(own), endOf(own)];
  const now = edge === "start" ? start : end;
  const [low, high] = limitsOf(text, { at, index, own, edge, latest });
  const asked = "by" in move ? now.seconds + move.by : move.at;
  const wanted = Math.round(asked * 1000) / 1000;
  const set = momentWithin(wanted, low.at, high.at);
  const isReached = Math.abs(set.seconds - asked) <= roundingMax;
  const stop = isReached ? undefined : wanted < low.at.seconds ? low.stop : high.stop;
  const times = edge === "start" ? { start: set, end: later(end, set) } : { start, end: set };
  const word = own.isUnchanged && !own.isPinned ? own.word : undefined;
  const begin = own.offset + own.text.length - own.text.trimStart().length;
  return {
    kind: "set",
    text: said,
    word,
    range: { from: begin, to: begin + said.length },
    before: { startTime: own.startTime, endTime: own.endTime },
    after: inOwnDigits(text.base, word, times),
    from: now.seconds,
    to: set.seconds,
    wasEstimated: own.isEstimated || (own.word === undefined && !own.isPinned),
    ...(stop && { stop }),
  };
}

function startOf({ start, startTime }: TimedWord): Moment {
  return { seconds: start, text: startTime };
}

function endOf({ end, endTime }: TimedWord): Moment {
  return { seconds: end, text: endTime };
}

/** Returns times as durations: those that are the base's own, to its digits. */
function inOwnDigits(
  base: Base,
  word: number | undefined,
  { start, end }: Readonly<Record<Edge, Moment>>,
): WordTimes {
  if (word === undefined) return { startTime: start.text, endTime: end.text };
  const { startTime, endTime } = base.words[word] ?? {};
  return {
    startTime: start.seconds === base.starts[word] ? (startTime ?? start.text) : start.text,
    endTime: end.seconds === base.ends[word] ? (endTime ?? end.text) : end.text,
  };
}

interface Limit {
  readonly at: Moment;
  readonly stop: Stop;
}

interface OwnPlace {
  /** The index of the paragraph. */
  readonly at: number;
  /** The index of the word in it. */
  readonly index: number;
  readonly own: TimedWord;
  readonly edge: Edge;
  readonly latest: number;
}

/** Returns the first and the last moment to which a time can be set. */
function limitsOf(text: TimedText, place: OwnPlace): readonly [Limit, Limit] {
  const { own, edge } = place;
  const now = edge === "start" ? startOf(own) : endOf(own);
  const low = edge === "start" ? earliestStart(text, place) : limit(startOf(own), "self");
  const high = latestOf(text, place);
  // A time that is beyond a limit may stay there.
  return [
    low.at.seconds > now.seconds ? { ...low, at: now } : low,
    high.at.seconds < now.seconds ? { ...high, at: now } : high,
  ];
}

function limit(at: Moment, by: Stop["by"], word = ""): Limit {
  return { at, stop: { by, word: word.trim() } };
}

function earliestStart(text: TimedText, { at, index }: OwnPlace): Limit {
  const previous = wordBefore(text, at, index);
  if (!previous) return limit(momentAt(0), "recording");
  const { word, paragraph } = previous;
  if (!isOtherSpeaker(text, at, paragraph)) return limit(endOf(word), "previous", word.text);
  const [first = word] = wordsAt(text, firstOfSegment(text, paragraph));
  return limit(startOf(first), "order");
}

function latestOf(text: TimedText, { at, index, edge, latest }: OwnPlace): Limit {
  const next = wordAfter(text, at, index);
  const end: Moment = latest === Infinity ? { seconds: Infinity, text: "" } : momentAt(latest);
  if (!next) return limit(end, "recording");
  const { word, paragraph } = next;
  if (!isOtherSpeaker(text, at, paragraph)) return limit(startOf(word), "next", word.text);
  const isFirst = index === 0 && firstOfSegment(text, at) === at;
  return isFirst && edge === "start" ? limit(startOf(word), "order") : limit(end, "recording");
}

interface Neighbor {
  readonly word: TimedWord;
  /** The index of its paragraph. */
  readonly paragraph: number;
}

function wordBefore(text: TimedText, at: number, index: number): Neighbor | undefined {
  for (let paragraph = at; paragraph >= 0; paragraph -= 1) {
    const words = wordsAt(text, paragraph);
    const word = paragraph === at ? words[index - 1] : words.at(-1);
    if (word) return { word, paragraph };
  }
  return undefined;
}

function wordAfter(text: TimedText, at: number, index: number): Neighbor | undefined {
  for (let paragraph = at; paragraph < text.paragraphs.length; paragraph += 1) {
    const word = wordsAt(text, paragraph)[paragraph === at ? index + 1 : 0];
    if (word) return { word, paragraph };
  }
  return undefined;
}

function wordsAt({ paragraphs, wordsOf }: TimedText, at: number): readonly TimedWord[] {
  const paragraph = paragraphs[at];
  return paragraph ? wordsOf(paragraph) : [];
}

function isOtherSpeaker({ paragraphs }: TimedText, at: number, other: number): boolean {
  return paragraphs[at]?.speaker !== paragraphs[other]?.speaker;
}

/** Returns the index of the paragraph with which the segment of a paragraph begins. */
function firstOfSegment(text: TimedText, at: number): number {
  let first = at;
  while (text.paragraphs[first]?.isSoft === true && !isOtherSpeaker(text, first, first - 1)) {
    first -= 1;
  }
  return Math.max(0, first);
}
