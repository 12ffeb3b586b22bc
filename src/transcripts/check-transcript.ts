import { create, toJson, type DescEnum } from "@bufbuild/protobuf";
import {
  SpeakerInfo_AgeGroupSchema,
  SpeakerInfo_GenderSchema,
  TranscriptMetadata_FileType as FileType,
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { invalidArgument, shown, type FieldViolation } from "../std/service-error.ts";
import { callerFields, mergeMetadata, type CallerField } from "./merge.ts";
import {
  charCount,
  type PlainDuration,
  type PlainSegment,
  type PlainTimes,
  type PlainWord,
} from "./segments.ts";

/**
 * The limits of a transcript (docs/api.md, Transcripts: Create). Characters are Unicode characters.
 */
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
  /**
   * The maximum size in bytes of all fields that callers may write, in proto3 JSON without unset
   * fields.
   */
  metadataBytes: 65_536,
  hours: 1_000,
} as const;

/**
 * The maximum number of violations in a response. If a request has more, only the first of them are
 * returned.
 */
export const violationsMax = 100;

/** Throws invalid_argument with every violation, at most 100. */
export function throwViolations(violations: Iterable<FieldViolation>): void {
  const found = Iterator.from(violations).take(violationsMax).toArray();
  if (found.length > 0) throw invalidArgument(found);
}

/**
 * Finds violations of the metadata size limit. Metadata that was accepted by an earlier version of
 * the service may be larger, but a change must not make such metadata even larger.
 */
export function* checkMetadataSize(
  metadata: TranscriptMetadata,
  before?: TranscriptMetadata,
): Generator<FieldViolation> {
  const bytes = metadataBytes(metadata);
  if (bytes <= limits.metadataBytes || (before && bytes <= metadataBytes(before))) return;
  const description = `is ${bytes} bytes of JSON; at most ${limits.metadataBytes} are allowed`;
  yield { field: "metadata", description };
}

/** Returns the size in bytes of the JSON of the fields that callers may write. */
function metadataBytes(metadata: TranscriptMetadata): number {
  const own = mergeMetadata(create(TranscriptMetadataSchema), metadata, callerFields);
  // toJsonString() would throw for an unpaired surrogate, which is a separate violation.
  const json = toJson(TranscriptMetadataSchema, own);
  return Buffer.byteLength(JSON.stringify(json));
}

/**
 * Finds violations in these metadata fields, including required fields that are empty, and in
 * segments.
 */
export function* checkTranscript(
  metadata: TranscriptMetadata,
  fields: Iterable<CallerField>,
  segments: readonly PlainSegment[],
): Generator<FieldViolation> {
  yield* checkMetadata(metadata, fields);
  yield* checkSegments(segments);
}

function* checkMetadata(
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
  for (const [id, { fullName, ageGroup, gender }] of entries) {
    const place = `speakers[${shown(id)}]`;
    yield* checkText(`${place} (key)`, id, limits.speakerIdChars);
    yield* checkText(`${place}.fullName`, fullName, limits.speakerNameChars);
    yield* checkEnum(`${place}.ageGroup`, SpeakerInfo_AgeGroupSchema, ageGroup);
    yield* checkEnum(`${place}.gender`, SpeakerInfo_GenderSchema, gender);
  }
}

/** Finds the violation of a number that has no name: binary requests may contain any. */
function* checkEnum(
  field: string,
  { values, value }: DescEnum,
  number: number,
): Generator<FieldViolation> {
  if (value[number]) return;
  const names = values.map(({ name }) => name).join(", ");
  yield { field, description: `is ${number}: one of ${names} is expected` };
}

/** The form of a language code: subtags of letters and digits. */
export const languageCodePattern = /^[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

function* checkLanguageCode(code: string): Generator<FieldViolation> {
  const field = "languageCode";
  if (code === "") {
    yield { field, description: "is required, for example is-IS" };
  } else if (code.length > limits.languageCodeChars || !isLanguageCode(code)) {
    yield { field, description: `${shown(code)} is not a BCP 47 language code such as is-IS` };
  }
}

/**
 * Whether a code is well-formed by BCP 47: a language tag or a private-use tag (RFC 5646, section
 * 2.1), which Intl does not support.
 */
function isLanguageCode(code: string): boolean {
  if (!languageCodePattern.test(code)) return false;
  if (/^x(?:-[a-z\d]{1,8})+$/i.test(code)) return true;
  try {
    return Intl.getCanonicalLocales(code).length === 1;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * Finds violations in segments: in their order, their times, the times of their words, and their
 * texts.
 */
export function* checkSegments(segments: readonly PlainSegment[]): Generator<FieldViolation> {
  yield* checkCount("segments", segments.length, limits.segments, "segments");
  const words = segments.reduce((sum, segment) => sum + segment.words.length, 0);
  yield* checkCount("segments", words, limits.words, "words in total");
  let previousStart = 0;
  for (const [index, segment] of segments.entries()) {
    const place = `segments[${index}]`;
    const span = spanOf(segment);
    if (!span) yield* explainSpan(place, segment);
    else if (span.start < previousStart) {
      yield { field: `${place}.startTime`, description: "is before that of the previous segment" };
    }
    previousStart = span?.start ?? previousStart;
    yield* checkText(`${place}.speakerId`, segment.speakerId, limits.speakerIdChars);
    yield* checkWords(place, segment.words, span);
  }
}

/**
 * Finds violations in the words of a segment. It allocates nothing for a valid word, since there
 * are many words.
 */
function* checkWords(
  segment: string,
  words: readonly PlainWord[],
  bounds: Span | undefined,
): Generator<FieldViolation> {
  const { start, end } = bounds ?? { start: 0, end: Infinity };
  let previousStart = 0;
  for (const [index, word] of words.entries()) {
    const span = spanOf(word);
    const isPlaced = span && span.start >= start && span.start >= previousStart && span.end <= end;
    if (!isPlaced || !isWord(word.word)) {
      const place = `${segment}.words[${index}]`;
      yield* span
        ? explainPlace(place, span, { start, end }, previousStart)
        : explainSpan(place, word);
      yield* checkWord(`${place}.word`, word.word);
    }
    previousStart = span?.start ?? previousStart;
  }
}

function* explainPlace(
  place: string,
  span: Span,
  bounds: Span,
  previousStart: number,
): Generator<FieldViolation> {
  if (span.start < bounds.start) {
    yield { field: `${place}.startTime`, description: "is before the start of its segment" };
  } else if (span.start < previousStart) {
    yield { field: `${place}.startTime`, description: "is before that of the previous word" };
  }
  if (span.end > bounds.end) {
    yield { field: `${place}.endTime`, description: "is after the end of its segment" };
  }
}

/** A span of time in nanoseconds, exact up to 2500 hours. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the span of a segment or word; undefined if explainSpan() finds violations. */
function spanOf({ startTime, endTime }: PlainTimes): Span | undefined {
  if (timeTrouble(startTime) !== undefined || timeTrouble(endTime) !== undefined) return undefined;
  const [start, end] = [nanosecondsOf(startTime), nanosecondsOf(endTime)];
  return start <= end ? { start, end } : undefined;
}

function* explainSpan(
  place: string,
  { startTime, endTime }: PlainTimes,
): Generator<FieldViolation> {
  const [start, end] = [timeTrouble(startTime), timeTrouble(endTime)];
  if (start !== undefined) yield { field: `${place}.startTime`, description: start };
  if (end !== undefined) yield { field: `${place}.endTime`, description: end };
  if (start === undefined && end === undefined) {
    yield { field: `${place}.endTime`, description: "is before its startTime" };
  }
}

const secondsMax = BigInt(limits.hours * 3600);

function timeTrouble(time: PlainDuration | undefined): string | undefined {
  if (!time) return 'is required, for example "1.500s"';
  const { seconds, nanos } = time;
  if (seconds < 0n || nanos < 0) return "is negative";
  if (nanos > 999_999_999) return "has nanos above 999999999";
  const isPast = seconds > secondsMax || (seconds === secondsMax && nanos > 0);
  return isPast ? `is after ${limits.hours} hours` : undefined;
}

function nanosecondsOf(time: PlainDuration | undefined): number {
  return time ? Number(time.seconds) * 1e9 + time.nanos : 0;
}

const controlCharacter = /[^\P{Cc}\t\n]/u;

function isWord(word: string): boolean {
  return word.length <= limits.wordChars && word.isWellFormed() && !controlCharacter.test(word);
}

function* checkWord(field: string, word: string): Generator<FieldViolation> {
  if (controlCharacter.test(word)) {
    yield { field, description: "has a control character; only tab and newline are allowed" };
  } else {
    yield* checkText(field, word, limits.wordChars);
  }
}

/**
 * Finds violations in a text that a caller sends: its length in characters, and invalid Unicode.
 */
export function* checkText(
  field: string,
  text: string,
  charsMax: number,
): Generator<FieldViolation> {
  if (text.length > charsMax) {
    const chars = charCount(text);
    if (chars > charsMax) {
      yield { field, description: `has ${chars} characters; at most ${charsMax} are allowed` };
      return;
    }
  }
  if (text.includes("\0")) yield { field, description: "has a NUL character" };
  if (!text.isWellFormed())
    yield { field, description: "has an unpaired surrogate (invalid Unicode)" };
}

function* checkCount(
  field: string,
  count: number,
  countMax: number,
  what: string,
): Generator<FieldViolation> {
  if (count > countMax) {
    yield { field, description: `has ${count} ${what}; at most ${countMax} are allowed` };
  }
}
