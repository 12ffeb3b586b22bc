import type { Cue } from "../../cues/cue.ts";
import { cueTime } from "./cue-time.ts";
import { srtText } from "./srt-text.ts";

/**
 * Writes cues as a SubRip file. The format has no place for names of speakers, which are only a
 * part of the text (named-turns.ts). No cue has two speakers.
 */
export function writeSrt(cues: readonly Cue[]): string {
  const blocks = cues.map(({ startMs, endMs, lines }, index) => {
    const time = `${cueTime(startMs, ",")} --> ${cueTime(endMs, ",")}`;
    return `${index + 1}\n${time}\n${srtText(lines.join("\n"))}\n`;
  });
  return blocks.join("\n");
}
