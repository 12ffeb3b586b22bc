import type { Cue } from "./cue.ts";
import { CueCutter } from "./cue-cutter.ts";
import { type SubtitleLines, subtitleRules } from "./subtitle-rules.ts";
import type { TimedWords } from "./timed-words.ts";

/**
 * Returns the subtitles of a transcript (subtitle-rules.ts), in order and without overlaps; each is
 * from one segment. `limitMs` is the length of the recording; undefined if unknown.
 */
export function subtitlesOf(
  segments: readonly TimedWords[],
  limitMs = Infinity,
  shape: SubtitleLines = subtitleRules,
): Cue[] {
  const cutting = new CueCutter(shape).cut(segments, limitMs);
  for (;;) {
    const step = cutting.next();
    if (step.done) return step.value;
  }
}
