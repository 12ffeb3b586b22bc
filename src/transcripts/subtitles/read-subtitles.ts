import type { ReadCue } from "./read-cue.ts";
import { readSrt } from "./read-srt.ts";
import { isVtt, readVtt } from "./read-vtt.ts";

/** The formats of subtitle files. */
export const subtitleFormats = ["SRT", "VTT"] as const;
export type SubtitleFormat = (typeof subtitleFormats)[number];

/**
 * Returns the cues of a file, ordered by start; by default, the format is detected. Throws
 * UnreadableFile.
 */
export function readSubtitles(content: string, format?: SubtitleFormat): ReadCue[] {
  const isWebVtt = format === undefined ? isVtt(content) : format === "VTT";
  const cues = isWebVtt ? readVtt(content) : readSrt(content);
  return cues.toSorted((one, other) => one.startMs - other.startMs);
}
