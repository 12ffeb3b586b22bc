import { shown } from "../../std/service-error.ts";
import { linesOf, UnreadableFile, type ReadCue } from "./read-cue.ts";
import { readTiming } from "./read-timing.ts";
import { readVttText } from "./vtt-text.ts";

/** Whether the content begins like a WebVTT file. */
export function isVtt(content: string): boolean {
  return /^\ufeff?WEBVTT(?:[ \t\r\n]|$)/.test(content);
}

/**
 * Reads the cues of a WebVTT file; notes, styles, regions and positions are dropped. Throws
 * UnreadableFile.
 */
export function readVtt(content: string): ReadCue[] {
  const lines = linesOf(content);
  if (!isVtt(content)) {
    throw new UnreadableFile(1, `WEBVTT is expected, not ${shown(lines[0] ?? "")}`);
  }
  const cues: ReadCue[] = [];
  // The header ends at the first empty line, or at times.
  let at = endOfBlock(lines, 1);
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") at += 1;
    else if (/^(?:NOTE|STYLE|REGION)(?:\s|$)/.test(line)) at = endOfBlock(lines, at + 1);
    else {
      const timingAt = line.includes("-->") ? at : at + 1;
      const times = readTiming(lines[timingAt] ?? "", timingAt + 1);
      const end = endOfBlock(lines, timingAt + 1);
      const text = lines.slice(timingAt + 1, end).join("\n");
      cues.push({ ...times, spans: readVttText(text) });
      at = end;
    }
  }
  return cues;
}

/**
 * Returns the next line that is empty or contains an arrow, which never occurs in the text of a cue
 * in WebVTT.
 */
function endOfBlock(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "" || line.includes("-->")) break;
    at += 1;
  }
  return at;
}
