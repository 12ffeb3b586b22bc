import { compareErrors, type ErrorComparison } from "./compare-errors.ts";
import { countConfusions, type Confusion } from "./count-confusions.ts";
import { errorInterval, wordUnits, type Interval, type Resampling } from "./error-interval.ts";
import type { Normalization } from "./normalization/normalize-words.ts";
import type { ScorableText } from "./scorable-text.ts";
import {
  scoreRecording,
  totalWordErrors,
  type ErrorCounts,
  type RecordingScore,
  type WordErrorCounts,
} from "./score-recording.ts";

/** What a system did with a recording. */
export interface RecordingResult extends ScorableText {
  readonly name: string;
  readonly mode: string;
  readonly model: string;
  /** The reason why the recording was not recognized; its other results do not count then. */
  readonly failure?: string;
  /** The time of the recognition; undefined if the audio was sent in real time. */
  readonly tookMs?: number;
  /**
   * For each final result of a stream in real time, the time from the end of its last word in the
   * audio to its arrival; without results that have no word times.
   */
  readonly finalMs?: readonly number[];
  /** The number of results without word times, whose latency is not known. */
  readonly untimedFinals?: number;
}

/** Errors, their share of the length, and its interval. */
export interface Rated<Counts extends ErrorCounts> {
  readonly counts: Counts;
  /** 1 is 100 %. */
  readonly rate: number;
  readonly interval: Interval | undefined;
}

/** Statistics of times in milliseconds. Percentiles are measured values. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface ScoredResult {
  /** The position of the recording in the manifest, from 0. */
  readonly index: number;
  readonly result: RecordingResult;
  readonly score: RecordingScore;
  /** The interval is that of the words of this recording (wordUnits). */
  readonly words: Rated<WordErrorCounts>;
}

/** The results of some recordings together. */
export interface Summary {
  readonly recordings: number;
  readonly audioMs: number;
  readonly words: Rated<WordErrorCounts>;
  readonly characters: Rated<ErrorCounts>;
  /** Processing time divided by audio time; undefined if the audio was sent in real time. */
  readonly realTimeFactor: number | undefined;
  /** The latency of final results; undefined if the audio was not sent in real time. */
  readonly finals: Latency | undefined;
  /** The number of final results whose latency is not known, because they have no word times. */
  readonly untimedFinals: number;
}

/** A part of the recordings with the same language, mode and model. */
export interface GroupSummary {
  readonly languageCode: string;
  readonly mode: string;
  readonly model: string;
  readonly summary: Summary;
}

export interface SystemReport {
  readonly label: string;
  readonly all: Summary;
  /** One for each language, mode and model. */
  readonly groups: readonly GroupSummary[];
  readonly confusions: readonly Confusion[];
  readonly scored: readonly ScoredResult[];
  readonly failed: readonly RecordingResult[];
}

export interface SummaryOptions {
  readonly normalization: Normalization;
  readonly resampling: Resampling;
}

const confusionsMax = 20;
/** The samples for the intervals of single recordings, of which there may be thousands. */
const recordingSamplesMax = 500;

/** Scores the results of a system. Recordings that were not recognized are only listed. */
export function summarizeResults(
  label: string,
  results: readonly RecordingResult[],
  options: SummaryOptions,
): SystemReport {
  const { resampling } = options;
  const scored = [...results.entries()]
    .filter(([, { failure }]) => failure === undefined)
    .map(([index, result]): ScoredResult => {
      const score = scoreRecording(result, options.normalization);
      const samples = Math.min(resampling.samples, recordingSamplesMax);
      const units = wordUnits(score.edits);
      return { index, result, score, words: rated(score.words, units, { ...resampling, samples }) };
    });
  const groups = Map.groupBy(scored, ({ result: { languageCode, mode, model } }) =>
    JSON.stringify([languageCode, mode, model]),
  );
  return {
    label,
    all: summaryOf(scored, resampling),
    groups: Array.from(groups.values(), (part) => ({
      languageCode: part[0]?.result.languageCode ?? "",
      mode: part[0]?.result.mode ?? "",
      model: part[0]?.result.model ?? "",
      summary: summaryOf(part, resampling),
    })),
    confusions: countConfusions(
      scored.map(({ score }) => score),
      confusionsMax,
    ),
    scored,
    failed: results.filter(({ failure }) => failure !== undefined),
  };
}

/** Compares two systems on the recordings that both recognized. */
export function compareSystems(
  first: SystemReport,
  second: SystemReport,
  resampling: Resampling,
): { readonly words: ErrorComparison; readonly characters: ErrorComparison } {
  const others = new Map(second.scored.map((each) => [each.index, each.score]));
  const pairs = first.scored.flatMap(({ index, score }) => {
    const other = others.get(index);
    return other ? [{ score, other }] : [];
  });
  const compared = (field: "words" | "characters"): ErrorComparison =>
    compareErrors(
      pairs.map(({ score, other }) => ({ first: score[field], second: other[field] })),
      resampling,
    );
  return { words: compared("words"), characters: compared("characters") };
}

function summaryOf(scored: readonly ScoredResult[], resampling: Resampling): Summary {
  const words = scored.map(({ score }) => score.words);
  const characters = scored.map(({ score }) => score.characters);
  const audioMs = sumOf(scored.map(({ result }) => result.durationMs));
  const timed = scored.filter(({ result }) => result.tookMs !== undefined);
  const timedMs = sumOf(timed.map(({ result }) => result.durationMs));
  const tookMs = sumOf(timed.map(({ result }) => result.tookMs ?? 0));
  return {
    recordings: scored.length,
    audioMs,
    words: rated(totalWordErrors(words), words, resampling),
    characters: rated(
      {
        length: sumOf(characters.map(({ length }) => length)),
        errors: sumOf(characters.map(({ errors }) => errors)),
      },
      characters,
      resampling,
    ),
    realTimeFactor: timedMs === 0 ? undefined : tookMs / timedMs,
    finals: latencyOf(scored.flatMap(({ result }) => result.finalMs ?? [])),
    untimedFinals: sumOf(scored.map(({ result }) => result.untimedFinals ?? 0)),
  };
}

function rated<Counts extends ErrorCounts>(
  counts: Counts,
  units: readonly ErrorCounts[],
  resampling: Resampling,
): Rated<Counts> {
  const rate = counts.length === 0 ? 0 : counts.errors / counts.length;
  return { counts, rate, interval: errorInterval(units, resampling) };
}

function latencyOf(times: readonly number[]): Latency | undefined {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  if (sorted.length === 0) return undefined;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
