import type { ErrorComparison } from "./compare-errors.ts";
import type { Interval } from "./error-interval.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Rated, ScoredResult, Summary, SystemReport } from "./summarize-results.ts";
import type { ErrorCounts } from "./score-recording.ts";

/** Returns the report as JSON, which docs/evaluation.md describes. Unknown values are null. */
export function jsonReport(evaluation: Evaluation): object {
  const { manifest, normalization, resampling, system, against } = evaluation;
  return {
    manifest,
    normalization,
    confidence: 0.95,
    resampling,
    systems: [system, ...(against ? [against.system] : [])].map(systemJson),
    comparison: against
      ? {
          test: "matched-pairs permutation",
          words: comparisonJson(against.words),
          characters: comparisonJson(against.characters),
        }
      : null,
  };
}

function systemJson({ label, all, groups, confusions, scored, failed }: SystemReport): object {
  return {
    label,
    ...summaryJson(all),
    groups: groups.map(({ languageCode, mode, model, summary }) => ({
      languageCode,
      mode,
      model,
      ...summaryJson(summary),
    })),
    confusions,
    recordings: scored.map(recordingJson),
    failed: failed.map(({ name, failure }) => ({ name, failure })),
  };
}

function summaryJson(summary: Summary): object {
  return {
    recordingCount: summary.recordings,
    audioSeconds: summary.audioMs / 1000,
    words: ratedJson(summary.words),
    characters: ratedJson(summary.characters),
    realTimeFactor: summary.realTimeFactor ?? null,
    finalLatencyMs: summary.finals ?? null,
    untimedFinalCount: summary.untimedFinals,
  };
}

function recordingJson({ result, score, words }: ScoredResult): object {
  const { name, languageCode, mode, model, durationMs, tookMs, finalMs } = result;
  const { characters } = score;
  const rate = characters.length === 0 ? 0 : characters.errors / characters.length;
  return {
    name,
    languageCode,
    mode,
    model,
    audioSeconds: durationMs / 1000,
    words: ratedJson(words),
    characters: { ...characters, rate },
    realTimeFactor: tookMs === undefined || durationMs === 0 ? null : tookMs / durationMs,
    finalLatencyMs: finalMs ?? null,
    text: result.text,
    recognized: result.recognized.map(({ text }) => text).join(" "),
    differences: score.differences.map(({ said, recognized, startMs, endMs }) => ({
      said: said.join(" "),
      recognized: recognized.join(" "),
      startMs: Math.round(startMs),
      endMs: Math.round(endMs),
    })),
  };
}

function ratedJson<Counts extends ErrorCounts>({ counts, rate, interval }: Rated<Counts>): object {
  return { ...counts, rate: counts.length === 0 ? null : rate, interval: intervalJson(interval) };
}

function comparisonJson({ interval, p, ...rest }: ErrorComparison): object {
  return { ...rest, interval: intervalJson(interval), p: p ?? null };
}

function intervalJson(interval: Interval | undefined): readonly number[] | null {
  return interval ? [interval.low, interval.high] : null;
}
