import { create } from "@bufbuild/protobuf";
import { nearestTurn, reachMs } from "../../engines/protocol/nearest-turn.ts";
import {
  SegmentSchema,
  type Segment,
  type Word,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { msOfDuration } from "../../std/duration.ts";

/** A stretch of a recording in which one person speaks. */
export interface SpeakerSpan {
  readonly speakerId: string;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The length of the parts of a recording by which spans are indexed. Searching hours of spans for
 * each word would take too long.
 */
const partMs = 30_000;
/** The spans that overlap each part of the recording, sorted by their starts. */
type SpansByPart = ReadonlyMap<number, readonly SpeakerSpan[]>;

/**
 * Sets the speaker of each segment (§2.3), and splits a segment where the speaker changes. A word
 * that is not near any turn joins the word before it, or at the start the word after it. Without
 * any turns nothing changes.
 */
export function assignSpeakers(
  segments: readonly Segment[],
  spans: readonly SpeakerSpan[],
): Segment[] {
  if (spans.length === 0) return [...segments];
  const parts = spansByPart(spans.toSorted((a, b) => a.startMs - b.startMs));
  return segments.flatMap((segment) => partSegment(segment, parts));
}

/** Returns the speakers of these segments, in the order of their first words. */
export function speakersIn(segments: readonly Segment[]): readonly string[] {
  const ids = segments.map(({ speakerId }) => speakerId).filter((id) => id !== "");
  return [...new Set(ids)];
}

function spansByPart(sorted: readonly SpeakerSpan[]): SpansByPart {
  const parts = new Map<number, SpeakerSpan[]>();
  for (const span of sorted) {
    const last = partOf(span.endMs + reachMs);
    for (let part = partOf(span.startMs - reachMs); part <= last; part++) {
      const known = parts.get(part);
      if (known) known.push(span);
      else parts.set(part, [span]);
    }
  }
  return parts;
}

function partOf(ms: number): number {
  return Math.floor(ms / partMs);
}

function partSegment(segment: Segment, spans: SpansByPart): Segment[] {
  const found = segment.words.map((word) => speakerOf(middleOf(word), spans));
  let current = found.find((id) => id !== undefined) ?? "";
  const parts: { speakerId: string; words: Word[] }[] = [];
  for (const [index, word] of segment.words.entries()) {
    current = found[index] ?? current;
    const last = parts.at(-1);
    if (last?.speakerId === current) last.words.push(word);
    else parts.push({ speakerId: current, words: [word] });
  }
  const [only] = parts;
  if (parts.length <= 1)
    return [create(SegmentSchema, { ...segment, speakerId: only?.speakerId ?? "" })];
  return parts.map(({ speakerId, words }) => {
    const [first, last] = [words.at(0), words.at(-1)];
    return create(SegmentSchema, {
      speakerId,
      words,
      ...(first?.startTime && { startTime: first.startTime }),
      ...(last?.endTime && { endTime: last.endTime }),
    });
  });
}

function speakerOf(ms: number, spans: SpansByPart): string | undefined {
  return nearestTurn(ms, spans.get(partOf(ms)) ?? [])?.speakerId;
}

function middleOf({ startTime, endTime }: Word): number {
  return ((startTime ? msOfDuration(startTime) : 0) + (endTime ? msOfDuration(endTime) : 0)) / 2;
}
