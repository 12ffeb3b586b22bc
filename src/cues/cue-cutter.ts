import { atomsOf, type Atom } from "./atoms.ts";
import type { Cue } from "./cue.ts";
import { cutCues } from "./cut-cues.ts";
import { charsOf, layOutLines } from "./lay-out-lines.ts";
import { type SubtitleLines, subtitleRules } from "./subtitle-rules.ts";
import { timeCues, type SpokenCue } from "./time-cues.ts";
import type { TimedWords } from "./timed-words.ts";

/** The cues of a segment, which depend on where the next segment begins. */
interface CutSegment {
  readonly nextMs: number;
  readonly cues: readonly SpokenCue[];
}

/**
 * Cuts a text into cues, again and again while it changes: a segment that is the same object as
 * before is not cut again.
 */
export class CueCutter {
  readonly #shape: SubtitleLines;
  readonly #atoms = new WeakMap<TimedWords, readonly Atom[]>();
  readonly #cut = new WeakMap<TimedWords, CutSegment>();

  constructor(shape: SubtitleLines = subtitleRules) {
    this.#shape = shape;
  }

  /**
   * Returns what subtitlesOf() returns. Yields after each segment, so that a page can do other work
   * in between.
   */
  *cut(segments: readonly TimedWords[], limitMs = Infinity): Generator<void, Cue[], void> {
    const spoken: { readonly segment: TimedWords; readonly atoms: readonly Atom[] }[] = [];
    for (const segment of segments) {
      const atoms = this.#atomsOf(segment);
      if (atoms.length > 0) spoken.push({ segment, atoms });
      yield;
    }
    const cues: SpokenCue[] = [];
    for (const [index, { segment, atoms }] of spoken.entries()) {
      const lastMs = atoms.at(-1)?.endMs ?? 0;
      const nextMs = spoken[index + 1]?.atoms[0]?.startMs ?? Math.max(limitMs, lastMs);
      cues.push(...this.#cuesOf(segment, atoms, nextMs));
      yield;
    }
    return timeCues(cues, limitMs);
  }

  /** Returns the lines of each cue of a segment that was cut, in the order of its words. */
  linesOf(segment: TimedWords): (readonly string[])[] {
    return this.#cut.get(segment)?.cues.map(({ lines }) => lines) ?? [];
  }

  #atomsOf(segment: TimedWords): readonly Atom[] {
    const known = this.#atoms.get(segment);
    if (known) return known;
    const atoms = atomsOf(segment.words, this.#shape.lineChars);
    this.#atoms.set(segment, atoms);
    return atoms;
  }

  #cuesOf(segment: TimedWords, atoms: readonly Atom[], nextMs: number): readonly SpokenCue[] {
    const known = this.#cut.get(segment);
    if (known?.nextMs === nextMs) return known.cues;
    const cues: SpokenCue[] = [];
    let start = 0;
    for (const end of cutCues(atoms, nextMs, this.#shape)) {
      const own = atoms.slice(start, end);
      const lines = layOutLines(own, this.#shape.lineChars);
      cues.push(cueOf(own, segment.speakerId, lines));
      start = end;
    }
    this.#cut.set(segment, { nextMs, cues });
    return cues;
  }
}

function cueOf(atoms: readonly Atom[], speakerId: string, lines: readonly string[]): SpokenCue {
  return {
    startMs: atoms[0]?.startMs ?? 0,
    spokenEndMs: atoms.at(-1)?.endMs ?? 0,
    chars: charsOf(atoms),
    speakerId,
    lines,
  };
}
