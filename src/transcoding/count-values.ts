import { Buffer } from "node:buffer";
import { invalidArgument } from "../std/service-error.ts";
import { jsonDepthMax, tooDeep } from "./json-text.ts";

/**
 * The maximum number of values in a message that is parsed on the main thread, where parsing takes
 * 1 to 3 us per value. A transcript without segments has up to 3,000 values.
 */
export const valuesMax = 10_000;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

const space = 0x20;
const colon = 0x3a;

/**
 * Every 64 digits of a number count as another value. JSON.parse() takes as long for a number of 8
 * MB as for 100,000 values.
 */
const bareBytesPerValue = 64;
/**
 * The maximum length of short strings. Longer strings are skipped with indexOf(), which is ten
 * times as fast.
 */
const shortStringBytes = 32;

/**
 * Counts the values in UTF-8 JSON by its commas, opening brackets and digits. Stops at `max` + 1.
 * Throws invalid_argument if the JSON nests deeper than parseJson() allows.
 */
export function countValues(json: Uint8Array, max = valuesMax): number {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const { length } = bytes;
  let count = 0;
  let depth = 0;
  let bareBytes = 0;
  for (let at = 0; at < length && count <= max; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === comma) count += 1;
    else if (byte === openList || byte === openObject) {
      count += 1;
      depth += 1;
      if (depth > jsonDepthMax) throw tooDeep();
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    else if (byte !== undefined && byte > space && byte !== colon) {
      bareBytes += 1;
      if (bareBytes % bareBytesPerValue === 0) count += 1;
    }
  }
  return count;
}

/**
 * Returns the position of the closing quote of the string that begins at `start`, or the length of
 * the text if there is no closing quote.
 */
export function endOfString(bytes: Buffer, start: number): number {
  let at = start;
  for (const inlineEnd = start + shortStringBytes; at < inlineEnd; at += 1) {
    const byte = bytes[at];
    if (byte === quote || byte === undefined) return at;
    if (byte === backslash) at += 1;
  }
  for (;;) {
    const end = bytes.indexOf(quote, at);
    if (end < 0) return bytes.length;
    let escapes = end;
    while (escapes > at && bytes[escapes - 1] === backslash) escapes -= 1;
    if ((end - escapes) % 2 === 0) return end;
    at = end + 1;
  }
}

/**
 * Returns the invalid_argument error for a message with too many values. `list` is the field that
 * may have more values.
 */
export function tooManyValues(list?: string) {
  const rule =
    list === undefined
      ? ""
      : `: only ${list} may have more, if the message is complete and has it once, as a list`;
  const description = `has more than ${valuesMax} values${rule}`;
  return invalidArgument([{ field: "body", description }]);
}
