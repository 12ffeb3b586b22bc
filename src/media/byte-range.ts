import type { ByteRange } from "./media-store.ts";

/**
 * The range that a Range header requests of media of this size (RFC 9110, section 14.2): one range,
 * limited to the media; "unsatisfiable" if it begins after the end. Several ranges, other units and
 * malformed headers mean "whole".
 */
export function readRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "whole" | "unsatisfiable" {
  const found = /^bytes=[ \t]*(?<first>\d{0,15})-(?<last>\d{0,15})[ \t]*$/i.exec(
    header ?? "",
  )?.groups;
  const { first = "", last = "" } = found ?? {};
  if (first === "" && last === "") return "whole";
  if (first === "") {
    const suffix = Math.min(Number(last), sizeBytes);
    return suffix === 0 ? "unsatisfiable" : { start: sizeBytes - suffix, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= sizeBytes ? "unsatisfiable" : { start, end };
}

/**
 * Whether an If-None-Match header names this entity tag (RFC 9110, section 13.1.2: weak
 * comparison).
 */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(",")
    .map((each) => each.trim())
    .some((each) => each === "*" || each === tag || each === `W/${tag}`);
}
