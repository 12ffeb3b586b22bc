import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  TranscriptMetadata_FileType as FileType,
  type Segment,
  type TranscriptMetadata,
  type Word,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { invalidArgument, shown, type FieldViolation } from "../std/service-error.ts";
import type { CallerField } from "./merge.ts";
import { charCount } from "./segments.ts";

/** What a transcript of a caller may hold (decisions, Transcripts: Create). Characters are Unicode characters. */
export const transcriptLimits = {
  segments: 20_000,
  words: 200_000,
  wordChars: 1_000,
  speakerIdChars: 100,
  subjectChars: 1_000,
  descriptionChars: 10_000,
  languageCodeChars: 100,
  keywords: 100,
  keywordChars: 100,
  additionalMetadata: 100,
  additionalMetadataKeyChars: 100,
  additionalMetadataValueChars: 2_000,
  speakers: 1_000,
  speakerNameChars: 1_000,
  hours: 1_000,
} as const;

/** A request with more that is wrong is answered with the first of it. */
const violationsMax = 100;

/** Throws invalid_argument with every violation, of 100 at most. */
export function throwViolations(violations: Iterable<FieldViolation>): void {
  const found = Iterator.from(violations).take(violationsMax).toArray();
  if (found.length > 0) throw invalidArgument(found);
}

/** What is wrong with these fields of a metadata; a required one that is empty included. */
export function* checkMetadata(
  metadata: TranscriptMetadata,
  fields: Iterable<CallerField>,
): Generator<FieldViolation> {
  for (const field of fields) {
    for (const violation of checkField(metadata, field)) {
      yield { ...violation, field: `metadata.${violation.field}` };
    }
  }
}

const limits = transcriptLimits;

function* checkField(metadata: TranscriptMetadata, field: CallerField): Generator<FieldViolation> {
  switch (field) {
    case "fileType":
      if (metadata.fileType !== FileType.AUDIO && metadata.fileType !== FileType.VIDEO) {
        yield { field, description: "AUDIO or VIDEO is required" };
      }
      return;
    case "languageCode":
      yield* checkLanguageCode(metadata.languageCode);
      return;
    case "subject":
      yield* checkText(field, metadata.subject, limits.subjectChars);
      return;
    case "description":
      yield* checkText(field, metadata.description, limits.descriptionChars);
      return;
    case "keywords":
      yield* checkCount(field, metadata.keywords.length, limits.keywords, "keywords");
      for (const [index, keyword] of metadata.keywords.entries()) {
        yield* checkText(`keywords[${index}]`, keyword, limits.keywordChars);
      }
      return;
    case "additionalMetadata":
      yield* checkAdditionalMetadata(metadata.additionalMetadata);
      return;
    case "speakers":
      yield* checkSpeakers(metadata);
      return;
    case "dictation":
      return;
  }
}

function* checkAdditionalMetadata(
  map: TranscriptMetadata["additionalMetadata"],
): Generator<FieldViolation> {
  const field = "additionalMetadata";
  const entries = Object.entries(map);
  yield* checkCount(field, entries.length, limits.additionalMetadata, "entries");
  for (const [key, value] of entries) {
    const place = `${field}[${shown(key)}]`;
    yield* checkText(`${place} (key)`, key, limits.additionalMetadataKeyChars);
    yield* checkText(place, value, limits.additionalMetadataValueChars);
  }
}

function* checkSpeakers({ speakers }: TranscriptMetadata): Generator<FieldViolation> {
  const entries = Object.entries(speakers);
  yield* checkCount("speakers", entries.length, limits.speakers, "speakers");
  for (const [id, { name }] of entries) {
    const place = `speakers[${shown(id)}]`;
    yield* checkText(`${place} (key)`, id, limits.speakerIdChars);
    yield* checkText(`${place}.name`, name, limits.speakerNameChars);
  }
}

function* checkLanguageCode(code: string): Generator<FieldViolation> {
  const field = "languageCode";
  if (code === "") {
    yield { field, description: "is required, for example is-IS" };
  } else if (code.length > limits.languageCodeChars || !isLanguageCode(code)) {
    yield { field, description: `${shown(code)} is not a BCP 47 language code such as is-IS` };
  }
}

/** Well-formed by BCP 47: a language tag, or one of private use alone (RFC 5646, section 2.1), which Intl does not know. */
function isLanguageCode(code: string): boolean {
  if (/^x(?:-[a-z\d]{1,8})+$/i.test(code)) return true;
  try {
    return Intl.getCanonicalLocales(code).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What is wrong with segments: their order, their times and those of their words, and their texts. */
export function* checkSegments(segments: readonly Segment[]): Generator<FieldViolation> {
  yield* checkCount("segments", segments.length, limits.segments, "segments");
  const words = segments.reduce((sum, segment) => sum + segment.words.length, 0);
  yield* checkCount("segments", words, limits.words, "words in all");
  let previousStart = 0;
  for (const [index, segment] of segments.entries()) {
    const place = `segments[${index}]`;
    const span = yield* checkSpan(place, segment);
    if (span && span.start < previousStart) {
      yield { field: `${place}.startTime`, description: "is before that of the segment before" };
    }
    previousStart = span?.start ?? previousStart;
    yield* checkText(`${place}.speakerId`, segment.speakerId, limits.speakerIdChars);
    yield* checkWords(place, segment.words, span);
  }
}

function* checkWords(
  segment: string,
  words: readonly Word[],
  bounds: Span | undefined,
): Generator<FieldViolation> {
  let previousStart = 0;
  for (const [index, word] of words.entries()) {
    const place = `${segment}.words[${index}]`;
    const span = yield* checkSpan(place, word);
    yield* checkWord(`${place}.word`, word.word);
    if (!span) continue;
    if (bounds && span.start < bounds.start) {
      yield { field: `${place}.startTime`, description: "is before the start of its segment" };
    } else if (span.start < previousStart) {
      yield { field: `${place}.startTime`, description: "is before that of the word before" };
    }
    if (bounds && span.end > bounds.end) {
      yield { field: `${place}.endTime`, description: "is after the end of its segment" };
    }
    previousStart = span.start;
  }
}

/** In nanoseconds: exact up to 2500 hours. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** The times of a segment or word, where both are there and of use. */
function* checkSpan(
  place: string,
  { startTime, endTime }: { startTime?: Duration | undefined; endTime?: Duration | undefined },
): Generator<FieldViolation, Span | undefined> {
  const start = yield* checkTime(`${place}.startTime`, startTime);
  const end = yield* checkTime(`${place}.endTime`, endTime);
  if (start === undefined || end === undefined) return undefined;
  if (end >= start) return { start, end };
  yield { field: `${place}.endTime`, description: "is before its startTime" };
  return undefined;
}

const secondsMax = limits.hours * 3600;

function* checkTime(
  field: string,
  time: Duration | undefined,
): Generator<FieldViolation, number | undefined> {
  if (!time) {
    yield { field, description: 'is required, for example "1.500s"' };
    return undefined;
  }
  const { seconds, nanos } = time;
  if (seconds < 0n || nanos < 0) {
    yield { field, description: "is negative" };
    return undefined;
  }
  if (nanos > 999_999_999 || !Number.isInteger(nanos)) {
    yield { field, description: "has nanos past 999999999" };
    return undefined;
  }
  const nanoseconds = Number(seconds) * 1e9 + nanos;
  if (nanoseconds <= secondsMax * 1e9) return nanoseconds;
  yield { field, description: `is past ${limits.hours} hours` };
  return undefined;
}

function* checkWord(field: string, word: string): Generator<FieldViolation> {
  if (/[^\P{Cc}\t\n]/u.test(word)) {
    yield { field, description: "has a control character; only tab and newline are allowed" };
  } else {
    yield* checkText(field, word, limits.wordChars);
  }
}

function* checkText(field: string, text: string, charsMax: number): Generator<FieldViolation> {
  if (text.length > charsMax) {
    const chars = charCount(text);
    if (chars > charsMax) {
      yield { field, description: `is ${chars} characters long: at most ${charsMax} are allowed` };
      return;
    }
  }
  if (text.includes("\0")) yield { field, description: "has a NUL character" };
  if (!text.isWellFormed()) yield { field, description: "has half a surrogate pair" };
}

function* checkCount(
  field: string,
  count: number,
  countMax: number,
  what: string,
): Generator<FieldViolation> {
  if (count > countMax) {
    yield { field, description: `has ${count} ${what}: at most ${countMax} are allowed` };
  }
}
