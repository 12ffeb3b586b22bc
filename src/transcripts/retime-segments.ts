import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { zstdOptions, type PackedSegments } from "./segments.ts";
import { spokenJson, spokenSegments, type SpokenSegment, type SpokenWord } from "./spoken.ts";
import { unpackedJson } from "./write-file.ts";

/** Segments as they are stored. */
type Packed = Pick<PackedSegments, "jsonZstd" | "jsonBytes">;

/** A segment with the words that are said in it, without the whitespace around them. */
export interface SegmentWords {
  readonly startMs: number;
  readonly endMs: number;
  readonly words: readonly string[];
}

/** Returns the words of stored segments as they are said: all of those that a number stands for. */
export function segmentWords(segments: Packed): SegmentWords[] {
  return spokenSegments(unpackedJson(segments)).map(({ startMs, endMs, words }) => ({
    startMs,
    endMs,
    words: words.flatMap(saidWords),
  }));
}

/** Returns the words that a word stands for; at least one. */
function saidWords({ text, spoken = "" }: SpokenWord): readonly string[] {
  const said = spoken.trim();
  return said === "" ? [text.trim()] : said.split(/\s+/);
}

/** New times for stored segments. */
export interface Retiming {
  readonly segments: Packed;
  /** The start and the end of each word of segmentWords(), in ms. They never decrease. */
  readonly times: Float64Array;
  readonly durationMs: number;
}

/**
 * Gives the words of stored segments new times, and keeps everything else. A segment lasts from its
 * first word to its last one. A segment without words keeps its times as far as they fit between
 * those of its neighbors.
 */
export function retimeSegments({ segments, times, durationMs }: Retiming): PackedSegments {
  const stored = spokenSegments(unpackedJson(segments));
  const count = stored.flatMap(({ words }) => words.flatMap(saidWords)).length;
  if (times.length !== 2 * count) {
    throw new Error(`there are times of ${times.length / 2} words for ${count} words`);
  }
  let next = 0;
  const timed = stored.map((segment): SpokenSegment => {
    const words = segment.words.map((word): SpokenWord => {
      const own = times.subarray(next, (next += 2 * saidWords(word).length));
      const { estimatedTimes: _found, ...said } = word;
      return { ...said, startMs: own.at(0) ?? 0, endMs: own.at(-1) ?? 0 };
    });
    const { startMs = segment.startMs } = words.at(0) ?? {};
    const endMs = words.reduce((latest, word) => Math.max(latest, word.endMs), startMs);
    return { ...segment, startMs, endMs: words.length > 0 ? endMs : segment.endMs, words };
  });
  const json = Buffer.from(spokenJson(fitEmpty(timed, durationMs)));
  return {
    sha256: createHash("sha256").update(json).digest(),
    jsonZstd: zstdCompressSync(json, zstdOptions),
    jsonBytes: json.length,
  };
}

/** Moves segments without words between the starts of the segments before and after them. */
function fitEmpty(segments: readonly SpokenSegment[], durationMs: number): SpokenSegment[] {
  const latest: number[] = [];
  let max = durationMs;
  for (const { words, startMs } of segments.toReversed()) {
    if (words.length > 0) max = startMs;
    latest.push(max);
  }
  latest.reverse();
  let min = 0;
  return segments.map((segment, index) => {
    const { words, startMs, endMs } = segment;
    const start = words.length > 0 ? startMs : Math.max(min, Math.min(startMs, latest[index] ?? 0));
    min = start;
    if (words.length > 0) return segment;
    return { ...segment, startMs: start, endMs: Math.max(start, Math.min(endMs, durationMs)) };
  });
}
