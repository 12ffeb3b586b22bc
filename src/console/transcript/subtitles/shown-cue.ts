import type { Cue } from "../../../cues/cue.ts";
import { firstIndex } from "../spoken-text.ts";

/** The number of cues that are laid out and painted together. */
export const cuesPerPart = 64;

/** The tolerance for players that report a time slightly before the requested one. */
const clockSlackMs = 2;

/** Returns the index of the last cue that has begun at a time; -1 before the first cue. */
export function lastCueAt(cues: readonly Cue[], ms: number): number {
  return firstIndex(cues.length, (at) => (cues[at]?.startMs ?? 0) > ms + clockSlackMs) - 1;
}

/** Returns the index of the cue that is shown at a time; undefined if there is none. */
export function cueAt(cues: readonly Cue[], ms: number): number | undefined {
  const at = lastCueAt(cues, ms);
  return ms < (cues[at]?.endMs ?? 0) ? at : undefined;
}

/** Returns the element of a cue. The children of `root` are parts, and theirs are cues. */
export function cueElement(root: Element, at: number): Element | undefined {
  return root.children[Math.floor(at / cuesPerPart)]?.children[at % cuesPerPart];
}

/** Returns the index of the cue that an element belongs to. */
export function cueIndexOf(root: Element, element: Element): number | undefined {
  const cue = element.closest(".cue");
  const part = cue?.parentElement;
  if (!cue || part?.parentElement !== root) return undefined;
  return [...root.children].indexOf(part) * cuesPerPart + [...part.children].indexOf(cue);
}
