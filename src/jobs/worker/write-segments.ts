import { create } from "@bufbuild/protobuf";
import {
  SegmentSchema,
  WordSchema,
  type Segment,
  type Word,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, msOfDuration } from "../../std/duration.ts";
import { mapInTurns } from "../../std/in-turns.ts";
import { storedConfidence } from "../../transcripts/segments.ts";
import {
  leavesOpen,
  pauseMsMin,
  writeWords,
  type SpokenWord,
  type UtteranceContext,
  type WritingOptions,
  type WrittenWord,
} from "../../writing/write-words.ts";

/**
 * The pause between two segments that can end a sentence. The detector of utterances needs
 * pauseMsMin of silence, but up to 150 ms of it belong to the words at either side.
 */
const segmentPauseMsMin = pauseMsMin - 300;
/** The number of words after which a stretch ends with its segment, so that no turn is long. */
const stretchWordsMax = 500;

/** Segments of one speaker without a pause between them, whose words are written together. */
interface Stretch {
  readonly segments: readonly Segment[];
  readonly words: readonly StretchWord[];
  readonly context: UtteranceContext;
}

/** A word, and where it is stored. */
interface StretchWord extends SpokenWord {
  readonly stored: Word;
  /** The index of its segment in the stretch. */
  readonly segment: number;
}

/**
 * Writes the words of a recording as the options request. Sentences and numbers may continue in the
 * next segment if the same speaker does not pause between them; a word belongs to the segment in
 * which it begins. Segments keep their speakers and their order.
 */
export async function writeSegments(
  segments: readonly Segment[],
  options: WritingOptions,
): Promise<Segment[]> {
  const stretches = stretchesOf(segments, options.languageCode);
  const written = await mapInTurns(stretches, (stretch) => writeStretch(stretch, options));
  return written.flat();
}

function* stretchesOf(segments: readonly Segment[], languageCode: string): Generator<Stretch> {
  let members: Segment[] = [];
  let words: StretchWord[] = [];
  let continues = false;
  for (const [index, segment] of segments.entries()) {
    for (const stored of segment.words) {
      words.push({ ...spokenWord(stored), stored, segment: members.length });
    }
    members.push(segment);
    const next = segments[index + 1];
    const isSameSpeaker = next?.speakerId === segment.speakerId;
    const isOpen = isSameSpeaker && !pausesBetween(segment, next);
    if (isOpen && words.length < stretchWordsMax) continue;
    yield { segments: members, words, context: { continues, isOpen } };
    continues = isSameSpeaker && (isOpen || leavesOpen(words, languageCode));
    members = [];
    words = [];
  }
}

function pausesBetween(segment: Segment, next: Segment): boolean {
  const [last, first] = [segment.words.at(-1), next.words.at(0)];
  if (!last || !first) return true;
  // Words with estimated times fill their utterances, so that no pause is left.
  if (last.estimatedTimes === true || first.estimatedTimes === true) return true;
  return msOf(first.startTime) - msOf(last.endTime) >= segmentPauseMsMin;
}

function writeStretch({ segments, words, context }: Stretch, options: WritingOptions): Segment[] {
  const bySegment = segments.map((): Word[] => []);
  let at = 0;
  for (const written of writeWords(words, options, context)) {
    const spoken = words.slice(at, (at += written.spoken.length));
    const [first] = spoken;
    if (first) bySegment[first.segment]?.push(storedWord(written, spoken));
  }
  return segments.flatMap((segment, index) => {
    const own = bySegment[index] ?? [];
    // A segment whose words all belong to a number in the segment before it is gone.
    return own.length === 0 && segment.words.length > 0 ? [] : [withWords(segment, own)];
  });
}

/** Returns a segment with other words, from the start of the first to the end of the last. */
function withWords(segment: Segment, words: Word[]): Segment {
  const [first, last] = [words.at(0), words.at(-1)];
  return create(SegmentSchema, {
    ...segment,
    words,
    ...(first?.startTime && { startTime: first.startTime }),
    ...(last?.endTime && { endTime: last.endTime }),
  });
}

function spokenWord({ word, startTime, endTime, confidence, estimatedTimes }: Word): SpokenWord {
  return {
    text: word.trim(),
    startMs: msOf(startTime),
    endMs: msOf(endTime),
    ...(confidence !== undefined && { confidence }),
    ...(estimatedTimes === true && { estimatedTimes }),
  };
}

/** Returns a word in stored form, with the space that its last spoken word has after it. */
function storedWord(written: WrittenWord, spoken: readonly StretchWord[]): Word {
  const { text, startMs, endMs, confidence, spokenForm, estimatedTimes } = written;
  const stored = spoken.at(-1)?.stored;
  const said = stored?.word ?? "";
  const word = text + said.slice(said.trimEnd().length);
  if (stored && spoken.length === 1 && word === said) return stored;
  return create(WordSchema, {
    startTime: durationFromMs(startMs),
    endTime: durationFromMs(endMs),
    word,
    ...(confidence !== undefined && { confidence: storedConfidence(confidence) }),
    ...(spokenForm !== undefined && { spoken: spokenForm }),
    ...(estimatedTimes && { estimatedTimes }),
  });
}

function msOf(time: Word["startTime"]): number {
  return time ? msOfDuration(time) : 0;
}
