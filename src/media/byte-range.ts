import type { ByteRange } from "./media-store.ts";

/**
 * Returns the range that a Range header requests from media of this size (RFC 9110, section 14.2):
 * one range, limited to the size of the media. Returns "unsatisfiable" if the range begins after
 * the end, and "whole" for several ranges, other units and malformed headers.
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
 * Returns whether an If-None-Match header names this entity tag, by weak comparison
 * (RFC 9110, section 13.1.2).
 */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header
    .split(",")
    .map((each) => each.trim())
    .some((each) => each === "*" || each === tag || each === `W/${tag}`);
}
