import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import type { CtcBeam } from "./ctc-beam.ts";
import { logSum, type Prefix, type Stamp } from "./prefix.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/** A token lasts so many frames from its last one on: models tell it where it begins. */
const tokenFrames = 2;

/** What turns frames of the outputs into times. */
export interface FrameTimes {
  readonly frameMs: number;
  /**
   * Of the first frame, counted from the utterance's first sample: what was heard before that is
   * not in it.
   */
  readonly startMs: number;
  /** The utterance ends, as far as it was heard. */
  readonly endMs: number;
}

/** The best reading of an utterance that goes on; undefined before there is a word. */
export function partialReading(
  beam: CtcBeam,
  { tokens }: TokenTable,
  times: FrameTimes,
): Hypothesis | undefined {
  const [best] = beam.prefixes;
  const heard = best ? heardWords(best, tokens) : [];
  if (heard.length === 0) return undefined;
  return { text: textOf(heard), words: timedWords(heard, times) };
}

/**
 * Distinct readings of an utterance that is over, best first, with confidences; none where nothing
 * was heard.
 */
export function finalReadings(
  beam: CtcBeam,
  parts: {
    readonly table: TokenTable;
    readonly scorer: WordScorer;
    readonly times: FrameTimes;
    readonly countMax: number;
  },
): readonly Hypothesis[] {
  const { table, scorer, times, countMax } = parts;
  const rivals = rivalsOf(beam, table, scorer);
  const [best] = rivals;
  if (!best || best.text === "") return [];
  const sure = mean(best.heard.map((word) => confidenceOf(word, rivals)));
  const said = rivals.slice(0, countMax).filter(({ text }) => text !== "");
  return said.map(({ text, heard, share }): Hypothesis => {
    const words = timedWords(heard, times).map((word, index) => {
      const spoken = heard[index];
      return spoken ? { ...word, confidence: confidenceOf(spoken, rivals) } : word;
    });
    // The words of another reading may be as sure, where it only leaves one out.
    return { text, confidence: (sure * share) / best.share, words };
  });
}

/** A word with the frames of its tokens. */
interface HeardWord {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  /** Geometric mean of its tokens' probabilities. */
  readonly clearness: number;
}

/** A text that the beam ended with, and its share of the probability of all. */
interface Rival {
  readonly text: string;
  readonly heard: readonly HeardWord[];
  readonly share: number;
}

/** Texts of the beam, likeliest first; the same text by several ways is one. */
function rivalsOf(beam: CtcBeam, { tokens }: TokenTable, scorer: WordScorer): readonly Rival[] {
  const byText = new Map<string, { heard: readonly HeardWord[]; log: number; best: number }>();
  for (const prefix of beam.prefixes) {
    const log = prefix.total + scorer.finish(prefix.words);
    const heard = heardWords(prefix, tokens);
    const text = textOf(heard);
    const same = byText.get(text);
    if (!same) byText.set(text, { heard, log, best: log });
    else {
      if (log > same.best) [same.heard, same.best] = [heard, log];
      same.log = logSum(same.log, log);
    }
  }
  const sorted = [...byText].toSorted(([, a], [, b]) => b.log - a.log);
  const all = sorted.reduce((sum, [, { log }]) => logSum(sum, log), Number.NEGATIVE_INFINITY);
  return sorted.map(([text, { heard, log }]) => ({ text, heard, share: Math.exp(log - all) }));
}

/**
 * How sure a word is: the share of the rivals that have it at this place, by how clearly its tokens
 * were heard. The first knows what else it might have been, the second what the beam has let go.
 */
function confidenceOf(word: HeardWord, rivals: readonly Rival[]): number {
  let share = 0;
  for (const rival of rivals) {
    const hasIt = rival.heard.some(
      ({ text, first, last }) => text === word.text && first <= word.last && last >= word.first,
    );
    if (hasIt) share += rival.share;
  }
  return Math.min(1, share) * word.clearness;
}

function heardWords(prefix: Prefix, tokens: TokenTable["tokens"]): readonly HeardWord[] {
  const words: HeardWord[] = [];
  const word = { text: "", first: 0, last: 0, logs: 0, count: 0 };
  const endWord = () => {
    const clearness = Math.exp(word.logs / Math.max(1, word.count));
    const text = word.text.normalize("NFC");
    if (text !== "") words.push({ text, first: word.first, last: word.last, clearness });
    Object.assign(word, { text: "", logs: 0, count: 0 });
  };
  // From the last token to the first.
  let at: Prefix | undefined = prefix;
  let stamp: Stamp | undefined = prefix.likeliest.stamp;
  for (; at?.parent && stamp; at = at.parent, stamp = stamp.before) {
    const token = tokens[at.token];
    if (token && token.text !== "") {
      if (word.count === 0) word.last = stamp.last;
      word.text = token.text + word.text;
      word.first = stamp.first;
      word.logs += stamp.peak;
      word.count += 1;
    }
    if (token?.startsWord) endWord();
  }
  endWord();
  return words.toReversed();
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

function textOf(heard: readonly HeardWord[]): string {
  return heard.map(({ text }) => text).join(" ");
}

/** Whole milliseconds within the utterance, one after another, each at least one long. */
function timedWords(
  heard: readonly HeardWord[],
  { frameMs, startMs, endMs }: FrameTimes,
): readonly EngineWord[] {
  const ends: number[] = [];
  let limit = Math.floor(endMs);
  const starts = heard.toReversed().map(({ first, last }) => {
    const end = Math.min(limit, Math.round(startMs + (last + tokenFrames) * frameMs));
    const start = Math.min(end - 1, Math.round(startMs + first * frameMs));
    ends.push(end);
    limit = start;
    return start;
  });
  let least = 0;
  return heard.map(({ text }, index) => {
    const startMs = Math.max(least, starts.at(-1 - index) ?? 0);
    least = Math.max(startMs + 1, ends.at(-1 - index) ?? 0);
    return { text, startMs, endMs: least };
  });
}
