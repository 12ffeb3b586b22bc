import { countValues } from "../transcoding/count-values.ts";
import { textOfUtf8 } from "../transcoding/json-text.ts";
import { transcriptLimits } from "./transcript-limits.ts";
import type { PlainChange } from "./check-changes.ts";
import type { PlainDuration, PlainSegment, PlainWord } from "./segments.ts";

/** The maximum number of values of a list: seven per segment or word, with their commas. */
const valuesMax = 7 * (transcriptLimits.segments + transcriptLimits.words);

/**
 * Reads the JSON of a list of segments, in UTF-8, in the form that clients write: names in
 * lowerCamelCase, texts and times as strings of whole characters, confidences as numbers, no null,
 * and no other members. Returns undefined for everything else, which is left to readJson(), because
 * the library takes two and a half times as long. Does not check the values.
 */
export function readPlainSegments(json: Uint8Array): PlainSegment[] | undefined {
  if (countValues(json, valuesMax) > valuesMax) return undefined;
  return plainSegments(parsed(json));
}

/** Reads parsed JSON as readPlainSegments() does. */
export function plainSegments(list: unknown): PlainSegment[] | undefined {
  return Array.isArray(list) ? allOf(list, segmentOf) : undefined;
}

/**
 * Reads the JSON of a list of changes as readPlainSegments() reads segments. Indices are whole
 * numbers.
 */
export function readPlainChanges(json: Uint8Array): PlainChange[] | undefined {
  const max = valuesMax + 5 * transcriptLimits.changes;
  if (countValues(json, max) > max) return undefined;
  const list = parsed(json);
  return Array.isArray(list) ? allOf(list, changeOf) : undefined;
}

function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(textOfUtf8(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads all items of a list; returns undefined if any item has another form. */
function allOf<T>(list: readonly unknown[], read: (json: unknown) => T | undefined) {
  const found: T[] = [];
  for (const each of list) {
    const value = read(each);
    if (value === undefined) return undefined;
    found.push(value);
  }
  return found;
}

const segmentNames: ReadonlySet<string> = new Set(["startTime", "endTime", "words", "speakerId"]);
const wordNames: ReadonlySet<string> = new Set([
  "startTime",
  "endTime",
  "word",
  "confidence",
  "spoken",
  "estimatedTimes",
]);

const changeNames: ReadonlySet<string> = new Set(["startIndex", "endIndex", "segments"]);

function changeOf(json: unknown): PlainChange | undefined {
  if (!isObjectOf(json, changeNames)) return undefined;
  const { startIndex = 0, endIndex = 0, segments: list = [] } = json;
  const segments = Array.isArray(list) ? allOf(list, segmentOf) : undefined;
  if (!segments || !isIndex(startIndex) || !isIndex(endIndex)) return undefined;
  return { startIndex, endIndex, segments };
}

function isIndex(json: unknown): json is number {
  return typeof json === "number" && Number.isInteger(json) && Math.abs(json) < 2 ** 31;
}

function segmentOf(json: unknown): PlainSegment | undefined {
  if (!isObjectOf(json, segmentNames)) return undefined;
  const times = timesOf(json);
  const { words: list = [], speakerId = "" } = json;
  const words = Array.isArray(list) ? allOf(list, wordOf) : undefined;
  if (!times || !words || !isText(speakerId)) return undefined;
  return { ...times, words, speakerId };
}

/** The largest number that a float of 32 bits can have. */
const floatMax = 3.4028234663852886e38;

function wordOf(json: unknown): PlainWord | undefined {
  if (!isObjectOf(json, wordNames)) return undefined;
  const times = timesOf(json);
  const { word = "", confidence, spoken, estimatedTimes } = json;
  if (!times || !isText(word)) return undefined;
  if (estimatedTimes !== undefined && typeof estimatedTimes !== "boolean") return undefined;
  const isBare = spoken === undefined && estimatedTimes === undefined;
  if (isBare && confidence === undefined) return { ...times, word };
  if (spoken !== undefined && !isText(spoken)) return undefined;
  if (confidence !== undefined && !isFloat(confidence)) return undefined;
  return { ...times, word, confidence, spoken, estimatedTimes };
}

/** Whether readJson() accepts a number: no float can have others. */
function isFloat(json: unknown): json is number {
  return typeof json === "number" && Math.abs(json) <= floatMax;
}

function timesOf({ startTime, endTime }: Readonly<Record<string, unknown>>) {
  const [start, end] = [durationOf(startTime), durationOf(endTime)];
  return start === null || end === null ? undefined : { startTime: start, endTime: end };
}

const duration = /^(\d{1,10})(?:\.(\d{1,9}))?s$/;

/**
 * Reads a duration; returns undefined if the duration is not set, and null if it has another form.
 */
function durationOf(json: unknown): PlainDuration | undefined | null {
  if (json === undefined) return undefined;
  const [, seconds, fraction = ""] = (typeof json === "string" && duration.exec(json)) || [];
  if (seconds === undefined) return null;
  return { seconds: BigInt(seconds), nanos: Number(fraction.padEnd(9, "0")) };
}

function isText(json: unknown): json is string {
  return typeof json === "string" && json.isWellFormed();
}

function isObjectOf(
  json: unknown,
  names: ReadonlySet<string>,
): json is Readonly<Record<string, unknown>> {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return false;
  for (const name in json) if (!names.has(name)) return false;
  return true;
}
