import type { SegmentJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { PackedSegments } from "../segments.ts";
import { unpackedJson } from "../write-file.ts";
import { diffWords, type DiffWord, type WordSpan } from "./diff-words.ts";

type Packed = Pick<PackedSegments, "jsonZstd" | "jsonBytes">;

/** The two versions to compare. If `before` is null, an empty version is used in its place. */
export interface Comparison {
  readonly before: Packed | null;
  readonly after: Packed;
  /** The number of runs to skip. */
  readonly skip: number;
  readonly runsMax: number;
}

/** A WordRun of the contract. Times are durations in proto3 JSON. */
export interface RunFacts {
  readonly kind: WordSpan["kind"];
  readonly count: number;
  readonly wordIndex: number;
  readonly againstWordIndex: number;
  readonly text: string;
  readonly times?: Times;
  readonly againstTimes?: Times;
}

export interface Times {
  readonly start: string;
  readonly end: string;
}

export interface WordComparison {
  readonly counts: Readonly<Record<WordSpan["kind"], number>>;
  readonly respoken: number;
  readonly resegmented: number;
  readonly runCount: number;
  readonly runs: readonly RunFacts[];
}

/** Compares the words of two versions. */
export function compareWords({ before, after, skip, runsMax }: Comparison): WordComparison {
  const one = before ? wordsOf(before) : [];
  const other = wordsOf(after);
  const { spans, respoken, resegmented } = diffWords(one, other);
  const counts = { KEPT: 0, RETIMED: 0, ADDED: 0, REMOVED: 0 };
  for (const { kind, count } of spans) counts[kind] += count;
  const reported = spans.slice(skip, skip + runsMax);
  const runs = reported.map((span) => runOf(span, one, other));
  return { counts, respoken, resegmented, runCount: spans.length, runs };
}

function wordsOf(packed: Packed): DiffWord[] {
  const segments: SegmentJson[] = JSON.parse(unpackedJson(packed));
  return segments.flatMap(({ speakerId = "", words = [] }) =>
    words.map(({ word = "", startTime = "0s", endTime = "0s" }, index) => ({
      text: word,
      startTime,
      endTime,
      speakerId,
      isFirst: index === 0,
    })),
  );
}

function runOf(span: WordSpan, one: readonly DiffWord[], other: readonly DiffWord[]): RunFacts {
  const { kind, count, beforeIndex, afterIndex } = span;
  const removed = kind === "ADDED" ? [] : one.slice(beforeIndex, beforeIndex + count);
  const added = kind === "REMOVED" ? [] : other.slice(afterIndex, afterIndex + count);
  const shown = kind === "KEPT" ? [] : kind === "REMOVED" ? removed : added;
  const [times, againstTimes] = [timesOf(added), timesOf(removed)];
  return {
    kind,
    count,
    wordIndex: afterIndex,
    againstWordIndex: beforeIndex,
    text: shown.map(({ text }) => text).join(""),
    ...(times && { times }),
    ...(againstTimes && { againstTimes }),
  };
}

function timesOf(words: readonly DiffWord[]): Times | undefined {
  const [first, last] = [words[0], words.at(-1)];
  return first && last && { start: first.startTime, end: last.endTime };
}
