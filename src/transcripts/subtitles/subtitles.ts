import type { SpokenSegment } from "../spoken.ts";
import { atomsOf, type Atom } from "./atoms.ts";
import type { Cue } from "./cue.ts";
import { cutCues } from "./cut-cues.ts";
import { charsOf, layOutLines } from "./lay-out-lines.ts";
import { timeCues, type SpokenCue } from "./time-cues.ts";

/**
 * Returns the subtitles of a transcript (subtitle-rules.ts), in order and without overlaps; each is
 * from one segment. `limitMs` is the length of the recording; undefined if unknown.
 */
export function subtitlesOf(segments: readonly SpokenSegment[], limitMs = Infinity): Cue[] {
  const spoken = segments
    .map(({ speakerId, ...segment }) => ({ speakerId, atoms: atomsOf({ speakerId, ...segment }) }))
    .filter(({ atoms }) => atoms.length > 0);
  const cues: SpokenCue[] = [];
  for (const [index, { speakerId, atoms }] of spoken.entries()) {
    const lastMs = atoms.at(-1)?.endMs ?? 0;
    const nextMs = spoken[index + 1]?.atoms[0]?.startMs ?? Math.max(limitMs, lastMs);
    let start = 0;
    for (const end of cutCues(atoms, nextMs)) {
      cues.push(cueOf(atoms.slice(start, end), speakerId));
      start = end;
    }
  }
  return timeCues(cues, limitMs);
}

function cueOf(atoms: readonly Atom[], speakerId: string): SpokenCue {
  return {
    startMs: atoms[0]?.startMs ?? 0,
    spokenEndMs: atoms.at(-1)?.endMs ?? 0,
    chars: charsOf(atoms),
    speakerId,
    lines: layOutLines(atoms),
  };
}
