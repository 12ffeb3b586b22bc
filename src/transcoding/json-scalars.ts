import { Buffer } from "node:buffer";
import { ScalarType } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";

/**
 * The result of a check against the proto3 JSON mapping: the kind of value that was expected, or
 * undefined if the value is valid. These checks are for scalars and for messages that are strings
 * in JSON. The checks are needed because the library also accepts "0x10" as a number, "1 second" as
 * a duration, February 30th, and spaces in base64.
 */
export type Expected = string | undefined;

const numberSyntax = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const wholeSyntax = /^-?(?:0|[1-9][0-9]*)$/;
/**
 * The maximum length of a number in characters. No number of any type needs more, and longer
 * numbers are refused without being parsed.
 */
const numberLengthMax = 1100;

type Check = (value: JsonValue) => Expected;

const int32: Check = (value) => expectedWhole32(value, -0x8000_0000, 0x7fff_ffff);
const uint32: Check = (value) => expectedWhole32(value, 0, 0xffff_ffff);
const int64: Check = (value) => expectedWhole64(value, -(2n ** 63n), 2n ** 63n - 1n);
const uint64: Check = (value) => expectedWhole64(value, 0n, 2n ** 64n - 1n);

/**
 * The JSON checks for each scalar type. The checks refuse null, since the caller decides what null
 * means.
 */
export const scalarChecks: Readonly<Record<ScalarType, Check>> = {
  [ScalarType.STRING]: expectedString,
  [ScalarType.BYTES]: (value) =>
    typeof value === "string" && bytesOfBase64(value) !== undefined ? undefined : "base64",
  [ScalarType.BOOL]: (value) => (typeof value === "boolean" ? undefined : "true or false"),
  [ScalarType.DOUBLE]: (value) => expectedFloat(value, Number.MAX_VALUE),
  [ScalarType.FLOAT]: (value) => expectedFloat(value, 3.402_823_466_385_288_6e38),
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

/** Checks a map key, which is always a string in JSON. */
export function expectedMapKey(type: ScalarType, key: string): Expected {
  if (type !== ScalarType.BOOL) return scalarChecks[type](key);
  return key === "true" || key === "false" ? undefined : "true or false";
}

function expectedString(value: JsonValue): Expected {
  if (typeof value !== "string") return "a string";
  return value.isWellFormed() ? undefined : "a string without unpaired surrogates";
}

function expectedFloat(value: JsonValue, max: number): Expected {
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return undefined;
  const number = numberOf(value);
  if (number === undefined) return "a number";
  return Math.abs(number) <= max ? undefined : `a number between ${-max} and ${max}`;
}

function expectedWhole32(value: JsonValue, min: number, max: number): Expected {
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) return "a whole number";
  return number >= min && number <= max ? undefined : `a whole number from ${min} to ${max}`;
}

function expectedWhole64(value: JsonValue, min: bigint, max: bigint): Expected {
  const whole = wholeOf(value);
  if (whole === undefined) return "a whole number";
  return whole >= min && whole <= max ? undefined : `a whole number from ${min} to ${max}`;
}

function numberOf(value: JsonValue): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.length > numberLengthMax) return undefined;
  return numberSyntax.test(value) ? Number(value) : undefined;
}

/**
 * Returns an integer from a number or from a string of digits. The library does not accept
 * exponents in strings here.
 */
function wholeOf(value: JsonValue): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "string" || value.length > numberLengthMax) return undefined;
  return wholeSyntax.test(value) ? BigInt(value) : undefined;
}

const timestampSyntax =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const timestampMsMin = Date.parse("0001-01-01T00:00:00Z");
const timestampMsMax = Date.parse("9999-12-31T23:59:59Z");

export function expectedTimestamp(value: JsonValue): Expected {
  if (typeof value !== "string") return "a timestamp such as 2026-11-20T10:11:12.345Z";
  const match = value.length > 40 ? null : timestampSyntax.exec(value);
  if (match === null) return "a timestamp such as 2026-11-20T10:11:12.345Z";
  const [, local = "", sign, hours = "0", minutes = "0"] = match;
  const ms = Date.parse(`${local}Z`);
  // Date converts February 30th and 24:00 to the next day.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(local);
  if (!exists || Number(hours) > 23 || Number(minutes) > 59) return "a date and time that exist";
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === "-" ? -1 : 1);
  const utcMs = ms - offsetMs;
  return utcMs >= timestampMsMin && utcMs <= timestampMsMax
    ? undefined
    : "a timestamp from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z";
}

const durationSyntax = /^-?([0-9]+)(?:\.([0-9]{1,9}))?s$/;
/** The limit of google.protobuf.Duration in seconds, about ten thousand years. */
const durationSecondsMax = 315_576_000_000;

export function expectedDuration(value: JsonValue): Expected {
  if (typeof value !== "string") return 'a duration such as "1.5s"';
  const match = value.length > 40 ? null : durationSyntax.exec(value);
  if (match === null) return 'a duration such as "1.5s"';
  return Number(match[1]) <= durationSecondsMax
    ? undefined
    : `a duration from -${durationSecondsMax}s to ${durationSecondsMax}s`;
}

/**
 * The maximum length of a field mask in characters. A mask is a single JSON value, but reading it
 * creates a path for each comma.
 */
const maskCharsMax = 16_384;

export function expectedFieldMask(value: JsonValue): Expected {
  if (typeof value !== "string") return 'field paths such as "metadata.subject,segments"';
  if (value.length > maskCharsMax) return `at most ${maskCharsMax} characters of field paths`;
  return value.includes("_") ? "field paths in lowerCamelCase, separated by commas" : undefined;
}

/**
 * Decodes standard or URL-safe base64, with or without padding. Returns undefined for other text.
 * It is about as fast as Buffer alone, because the text is checked by its effects. The result is
 * too short if Buffer skipped a character, and characters that Buffer would cut to eight bits are
 * not ASCII.
 */
export function bytesOfBase64(text: string): Uint8Array | undefined {
  let length = text.length;
  if (text.endsWith("=")) {
    if (length % 4 !== 0) return undefined;
    length -= text.endsWith("==") ? 2 : 1;
  }
  if (length % 4 === 1 || Buffer.byteLength(text) !== text.length) return undefined;
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== Math.floor((length * 3) / 4)) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
