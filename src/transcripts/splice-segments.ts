import { createHash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { FieldViolation } from "../std/service-error.ts";
import { endOfString } from "../transcoding/count-values.ts";
import type { CheckedChange } from "./check-changes.ts";
import type { CheckedPhrase } from "../vocabulary/check-phrase.ts";
import { findCorrections } from "../vocabulary/find-corrections.ts";
import { checkCount } from "./check-values.ts";
import { comparedBytesMax, editedWords } from "./find-edits.ts";
import { transcriptLimits } from "./transcript-limits.ts";
import { zstdOptions, type PackedSegments, type StoredSegments } from "./segments.ts";

/** Stored segments, and the changes of them in ascending order. */
export interface Splice {
  readonly segments: Pick<StoredSegments, "jsonZstd" | "jsonBytes">;
  readonly changes: readonly CheckedChange[];
  /** The language of the corrections. */
  readonly languageCode: string;
}

/** The result of changes, which is plain data. */
export type Spliced =
  | { readonly packed: PackedSegments; readonly corrections: readonly CheckedPhrase[] }
  /** The segments already are what the changes make of them. */
  | { readonly packed: undefined }
  | { readonly violations: readonly FieldViolation[] };

/**
 * Replaces ranges of stored segments. The bytes of the other segments are copied, without being
 * parsed: what was valid stays valid, so only what changes can break is checked. That is the order
 * of the segments at the edges of each range, the range itself, and the number of all segments and
 * words.
 */
export function spliceSegments({ segments, changes, languageCode }: Splice): Spliced {
  const { jsonZstd, jsonBytes } = segments;
  const base = zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) });
  const stored = new StoredList(base);
  const outside = rangeViolations(stored, changes);
  if (outside.length > 0) return { violations: outside };
  const json = Buffer.concat(piecesOf(stored, changes));
  if (json.equals(base)) return { packed: undefined };
  const violations = [...edgeViolations(stored, changes), ...checkCounts(stored, changes, json)];
  if (violations.length > 0) return { violations };
  const sha256 = createHash("sha256").update(json).digest();
  const packed = { sha256, jsonZstd: zstdCompressSync(json, zstdOptions), jsonBytes: json.length };
  return { packed, corrections: correctionsOf(stored, changes, languageCode) };
}

/** Finds what the changes correct, unless they are too long. */
function correctionsOf(
  stored: StoredList,
  changes: readonly CheckedChange[],
  languageCode: string,
): readonly CheckedPhrase[] {
  const replaced = changes
    .filter(({ startIndex, endIndex, segments }) => endIndex > startIndex && segments > 0)
    .map(({ startIndex, endIndex, json }) => ({
      before: stored.bytes(startIndex, endIndex).toString(),
      after: json,
    }));
  const length = replaced.reduce((sum, { before, after }) => sum + before.length + after.length, 0);
  if (length > comparedBytesMax) return [];
  const edits = replaced.map(({ before, after }) => editedWords(`[${before}]`, `[${after}]`));
  return findCorrections(edits, languageCode);
}

/** The positions of the segments in a stored list, which are found only as far as needed. */
class StoredList {
  readonly json: Buffer;
  /** The position after each segment that was found. */
  readonly #ends: number[] = [];

  constructor(json: Buffer) {
    this.json = json;
  }

  /** Returns whether the list has at least this number of segments. */
  has(count: number): boolean {
    while (this.#ends.length < count) {
      const end = this.#nextEnd();
      if (end === undefined) return false;
      this.#ends.push(end);
    }
    return true;
  }

  count(): number {
    this.has(Infinity);
    return this.#ends.length;
  }

  /** Returns the bytes of the segments from `start` on, up to `end` or to the end of the list. */
  bytes(start: number, end?: number): Buffer {
    const to = end === undefined ? this.json.length - 1 : this.#startOf(end) - 1;
    return this.json.subarray(Math.min(this.#startOf(start), to), to);
  }

  /** Returns the start time of a segment in nanoseconds. */
  startTime(index: number): number {
    this.has(index);
    const start = this.#startOf(index);
    const [, seconds = "0", fraction = ""] =
      startTimePattern.exec(this.json.toString("latin1", start, start + startTimeBytesMax)) ?? [];
    return Number(seconds) * 1e9 + Number(fraction.padEnd(9, "0"));
  }

  #startOf(index: number): number {
    return index === 0 ? 1 : (this.#ends[index - 1] ?? 0) + 1;
  }

  /**
   * Finds the end of the next segment: its last field is the speaker. The bytes of that name, with
   * its quotes and its colon, cannot be in a text, because the quotes in a text have a backslash.
   */
  #nextEnd(): number | undefined {
    const { json } = this;
    const start = this.#startOf(this.#ends.length);
    if (start >= json.length - 1) return undefined;
    const name = json.indexOf(speakerName, start);
    const end = name < 0 ? -1 : endOfString(json, name + speakerName.length) + 2;
    if (json[end - 1] === closeObject && (json[end] === comma || end === json.length - 1)) {
      return end;
    }
    throw new Error(`the stored segments have another form at byte ${start}`);
  }
}

const speakerName = Buffer.from('"speakerId":"');
const wordName = Buffer.from('"word":"');
const comma = 0x2c;
const closeObject = 0x7d;
const startTimePattern = /^\{"startTime":"(\d+)(?:\.(\d+))?s"/;
const startTimeBytesMax = 64;

function rangeViolations(
  stored: StoredList,
  changes: readonly CheckedChange[],
): readonly FieldViolation[] {
  const index = changes.findIndex(({ endIndex }) => !stored.has(endIndex));
  const change = changes[index];
  if (!change) return [];
  const count = stored.count();
  const name = change.startIndex > count ? "startIndex" : "endIndex";
  const description = `is ${change[name]}; the version has ${count} segments`;
  return [{ field: `changes[${index}].${name}`, description }];
}

/** Returns the pieces of the resulting list. */
function piecesOf(stored: StoredList, changes: readonly CheckedChange[]): Buffer[] {
  const pieces: Buffer[] = [];
  let keptFrom = 0;
  for (const { startIndex, endIndex, json } of changes) {
    if (startIndex > keptFrom) pieces.push(stored.bytes(keptFrom, startIndex));
    pieces.push(Buffer.from(json));
    keptFrom = endIndex;
  }
  pieces.push(stored.bytes(keptFrom));
  const between = pieces
    .filter(({ length }) => length > 0)
    .flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.of(comma), piece]));
  return [Buffer.from("["), ...between, Buffer.from("]")];
}

/** Finds new segments that are not in order with the segment before or after them. */
function* edgeViolations(
  stored: StoredList,
  changes: readonly CheckedChange[],
): Generator<FieldViolation> {
  let keptFrom = 0;
  /** The last segment of the result so far; `place` names it if it is new. */
  let last: { readonly start: number; readonly place?: string } = { start: 0 };
  const isAfterNext = (): boolean =>
    last.place !== undefined && stored.has(keptFrom + 1) && last.start > stored.startTime(keptFrom);
  const afterNext = (): FieldViolation => {
    return { field: `${last.place}.startTime`, description: "is after that of the next segment" };
  };
  for (const [index, change] of changes.entries()) {
    const { startIndex, endIndex, segments, firstStart, lastStart } = change;
    if (startIndex > keptFrom) {
      if (isAfterNext()) yield afterNext();
      last = { start: stored.startTime(startIndex - 1) };
    }
    if (segments > 0) {
      const place = `changes[${index}].segments`;
      if (firstStart < last.start) {
        const description = "is before that of the previous segment";
        yield { field: `${place}[0].startTime`, description };
      }
      last = { start: lastStart, place: `${place}[${segments - 1}]` };
    }
    keptFrom = endIndex;
  }
  if (isAfterNext()) yield afterNext();
}

/** The shortest word of a stored list, with its comma. */
const wordBytesMin = '{"startTime":"0s","endTime":"0s","word":""},'.length;

/** Finds the violations of the limits. Words are counted only if there may be too many. */
function* checkCounts(
  stored: StoredList,
  changes: readonly CheckedChange[],
  json: Buffer,
): Generator<FieldViolation> {
  const { segments: segmentsMax, words: wordsMax } = transcriptLimits;
  const added = changes.reduce((sum, change) => {
    return sum + change.segments - (change.endIndex - change.startIndex);
  }, 0);
  if (added > 0) yield* checkCount("changes", stored.count() + added, segmentsMax, resulting);
  if (json.length < wordsMax * wordBytesMin) return;
  const words = countOf(wordName, json);
  if (words > countOf(wordName, stored.json)) {
    yield* checkCount("changes", words, wordsMax, "words in the result");
  }
}

const resulting = "segments in the result";

function countOf(text: Buffer, json: Buffer): number {
  let count = 0;
  for (let at = json.indexOf(text); at >= 0; at = json.indexOf(text, at + text.length)) count += 1;
  return count;
}
