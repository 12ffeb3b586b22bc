import { isAscii, isUtf8 } from "node:buffer";
import type { JsonValue } from "@bufbuild/protobuf";
import { jsonParse } from "../std/json-parse.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { firstSyntaxError } from "./json-syntax.ts";

/**
 * The maximum depth of objects and lists in the JSON of a request. It is greater than the depth of
 * any message, and far less than overflows a stack.
 */
export const jsonDepthMax = 64;

/**
 * The maximum number of objects and lists in the JSON of a request, which is twice the number in
 * the largest transcript. Without a limit, 32 MB could contain ten million empty objects or lists,
 * which take more than a gigabyte.
 */
export const jsonContainersMax = 500_000;

/**
 * Decodes the text of a body, without a byte order mark. Throws ServiceError invalid_argument if
 * the bytes are not UTF-8.
 */
export function textOfUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // For ASCII, such as a base64 body, this gives the same result as decoding UTF-8, and is ten
  // times as fast.
  if (isAscii(buffer)) return buffer.toString("latin1");
  if (!isUtf8(buffer)) throw malformed("the body is not UTF-8 text");
  const text = buffer.toString();
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/**
 * Parses JSON text. Throws ServiceError invalid_argument with the line and column of an error, or
 * with the limit that the text exceeds.
 */
export function parseJson(text: string): JsonValue {
  refuseBomb(text);
  try {
    return jsonParse(text);
  } catch {
    const { offset, expected } = firstSyntaxError(text);
    const before = text.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - before.lastIndexOf("\n");
    const found = offset < text.length ? shown(text.slice(offset, offset + 20)) : "the end";
    throw malformed(
      `not valid JSON at line ${line}, column ${column}: expected ${expected}, found ${found}`,
    );
  }
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Reads the text once before it is parsed, and throws at the first object or list that exceeds a
 * limit. A deeply nested text therefore costs only its first 65 brackets, and a text with too many
 * objects costs little more.
 */
function refuseBomb(text: string): void {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
    } else if (char === 0x7b || char === 0x5b) {
      containers++;
      if (++depth > jsonDepthMax) throw tooDeep();
    } else if (char === 0x7d || char === 0x5d) {
      depth--;
    }
  }
  if (containers > jsonContainersMax) throw tooManyContainers();
}

/** Returns the invalid_argument error for JSON that nests deeper than jsonDepthMax. */
export function tooDeep(): ServiceError {
  return malformed(`the JSON nests deeper than ${jsonDepthMax} levels`);
}

/**
 * Returns the invalid_argument error for JSON with more than jsonContainersMax objects and lists.
 */
export function tooManyContainers(): ServiceError {
  return malformed(`the JSON has more than ${jsonContainersMax} objects and lists`);
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
}

function malformed(message: string): ServiceError {
  return new ServiceError("invalid_argument", message, { reason: "MALFORMED_JSON" });
}
