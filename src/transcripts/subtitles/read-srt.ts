import { decodeEntities } from "./entities.ts";
import { linesOf, type ReadCue } from "./read-cue.ts";
import { isTiming, readTiming } from "./read-timing.ts";
import { withoutJoiners } from "./srt-text.ts";

/**
 * Reads the cues of a SubRip file as players do: numbers can be missing or wrong, a text can
 * contain empty lines, and tags and positions are dropped. Throws UnreadableFile.
 */
export function readSrt(content: string): ReadCue[] {
  const lines = linesOf(content);
  const cues: ReadCue[] = [];
  let at = nextText(lines, 0);
  while (at < lines.length) {
    if (isIndex(lines, at)) at += 1;
    if (at === lines.length) break;
    const times = readTiming(lines[at] ?? "", at + 1);
    const end = endOfText(lines, at + 1);
    const text = readable(lines.slice(at + 1, end).join("\n"));
    cues.push({ ...times, spans: [{ text, voice: "" }] });
    at = nextText(lines, end);
  }
  return cues;
}

/** Whether a line is a number that precedes times or ends a truncated file. */
function isIndex(lines: readonly string[], at: number): boolean {
  const isNumber = /^\s*\d+\s*$/.test(lines[at] ?? "");
  return isNumber && (isTimes(lines[at + 1] ?? "") || nextText(lines, at + 1) === lines.length);
}

/**
 * Whether a line contains times. Malformed times also count, since they are an error, not text.
 */
function isTimes(line: string): boolean {
  return line.includes("-->") || /^\s*\d{1,5}:\d{1,2}.*->/.test(line);
}

/** Returns the end of a cue's text, which is before the number and times of the next cue. */
function endOfText(lines: readonly string[], start: number): number {
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const isAfterEmpty = at > start && (lines[at - 1] ?? "").trim() === "";
    if (isTiming(line)) return at;
    if (isIndex(lines, at) && (isAfterEmpty || isTiming(lines[at + 1] ?? ""))) return at;
    // The times are malformed, which readTiming() reports.
    if (isAfterEmpty && isTimes(line)) return at;
  }
  return lines.length;
}

function nextText(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && (lines[at] ?? "").trim() === "") at += 1;
  return at;
}

function readable(text: string): string {
  const bare = text
    .replaceAll(/\{\\[^{}]*\}|\{\/?[biu]\}/gi, "")
    .replaceAll(/<\/?[a-z][^<>]*>/gi, "");
  return withoutJoiners(decodeEntities(bare));
}
