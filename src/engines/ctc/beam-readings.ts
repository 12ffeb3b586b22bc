import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import type { CtcBeam } from "./ctc-beam.ts";
import { logSum, type Prefix, type Stamp } from "./prefix.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/**
 * The number of frames that a token lasts after its last frame, because models output it where it
 * begins.
 */
const tokenFrames = 2;

/** Converts frames of the outputs to times. */
export interface FrameTimes {
  readonly frameMs: number;
  /**
   * The time of the first frame relative to the first sample of the utterance; negative if silence
   * was prepended.
   */
  readonly startMs: number;
  /** The end of the utterance so far. */
  readonly endMs: number;
}

/** The best reading of an unfinished utterance; undefined until there is a word. */
export function partialReading(
  beam: CtcBeam,
  { tokens }: TokenTable,
  times: FrameTimes,
): Hypothesis | undefined {
  const [best] = beam.prefixes;
  const framed = best ? framedWords(best, tokens) : [];
  if (framed.length === 0) return undefined;
  return { text: textOf(framed), words: timedWords(framed, times) };
}

/**
 * The distinct readings of a finished utterance, best first, with confidences; empty if there are
 * no words.
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
  const certainty = mean(best.framed.map((word) => confidenceOf(word, rivals)));
  const said = rivals.slice(0, countMax).filter(({ text }) => text !== "");
  return said.map(({ text, framed, share }): Hypothesis => {
    const words = timedWords(framed, times).map((word, index) => {
      const spoken = framed[index];
      return spoken ? { ...word, confidence: confidenceOf(spoken, rivals) } : word;
    });
    // Without the share, another reading that only omits a word would be equally certain.
    return { text, confidence: (certainty * share) / best.share, words };
  });
}

/** A word with the frames of its tokens. */
interface FramedWord {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  /** The geometric mean of the probabilities of the word's tokens. */
  readonly clearness: number;
}

/** A text in the final beam, and its share of the total probability. */
interface Rival {
  readonly text: string;
  readonly framed: readonly FramedWord[];
  readonly share: number;
}

/** Returns the texts of the beam, likeliest first; prefixes with the same text are merged. */
function rivalsOf(beam: CtcBeam, { tokens }: TokenTable, scorer: WordScorer): readonly Rival[] {
  const byText = new Map<string, { framed: readonly FramedWord[]; log: number; best: number }>();
  for (const prefix of beam.prefixes) {
    const log = prefix.total + scorer.finish(prefix.words);
    const framed = framedWords(prefix, tokens);
    const text = textOf(framed);
    const same = byText.get(text);
    if (!same) byText.set(text, { framed, log, best: log });
    else {
      if (log > same.best) [same.framed, same.best] = [framed, log];
      same.log = logSum(same.log, log);
    }
  }
  const sorted = [...byText].toSorted(([, a], [, b]) => b.log - a.log);
  const all = sorted.reduce((sum, [, { log }]) => logSum(sum, log), Number.NEGATIVE_INFINITY);
  return sorted.map(([text, { framed, log }]) => ({ text, framed, share: Math.exp(log - all) }));
}

/**
 * The confidence of a word: the share of the rivals that have the word at this place, times the
 * clearness of its tokens. The share reflects alternatives in the beam; the clearness reflects
 * those that were pruned.
 */
function confidenceOf(word: FramedWord, rivals: readonly Rival[]): number {
  let share = 0;
  for (const rival of rivals) {
    const hasIt = rival.framed.some(
      ({ text, first, last }) => text === word.text && first <= word.last && last >= word.first,
    );
    if (hasIt) share += rival.share;
  }
  return Math.min(1, share) * word.clearness;
}

function framedWords(prefix: Prefix, tokens: TokenTable["tokens"]): readonly FramedWord[] {
  const words: FramedWord[] = [];
  const word = { text: "", first: 0, last: 0, logs: 0, count: 0 };
  const endWord = () => {
    const clearness = Math.exp(word.logs / Math.max(1, word.count));
    const text = word.text.normalize("NFC");
    if (text !== "") words.push({ text, first: word.first, last: word.last, clearness });
    Object.assign(word, { text: "", logs: 0, count: 0 });
  };
  // The loop runs from the last token to the first.
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

function textOf(framed: readonly FramedWord[]): string {
  return framed.map(({ text }) => text).join(" ");
}

/**
 * Returns the words with their times: in whole milliseconds, within the utterance and in order,
 * with each word at least 1 ms long.
 */
function timedWords(
  framed: readonly FramedWord[],
  { frameMs, startMs, endMs }: FrameTimes,
): readonly EngineWord[] {
  const ends: number[] = [];
  let limit = Math.floor(endMs);
  const starts = framed.toReversed().map(({ first, last }) => {
    const end = Math.min(limit, Math.round(startMs + (last + tokenFrames) * frameMs));
    const start = Math.min(end - 1, Math.round(startMs + first * frameMs));
    ends.push(end);
    limit = start;
    return start;
  });
  let least = 0;
  return framed.map(({ text }, index) => {
    const startMs = Math.max(least, starts.at(-1 - index) ?? 0);
    least = Math.max(startMs + 1, ends.at(-1 - index) ?? 0);
    return { text, startMs, endMs: least };
  });
}
