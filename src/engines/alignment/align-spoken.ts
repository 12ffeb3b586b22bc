import type { AlignmentSlices } from "../protocol/engine.ts";
import { placeWords, type Section } from "./place-words.ts";
import { type Emissions, type LatticeModel, type SpokenWord, WordLattice } from "./word-lattice.ts";

/** How the frames of a model become times. */
export interface FrameClock {
  /** Returns the time of a frame in the window. */
  readonly timeOf: (frame: number) => number;
  /** The number of frames that a sound lasts after the last frame that shows it. */
  readonly tailFrames: number;
  /** The minimum length of a sound that may be a word. */
  readonly soundMsMin: number;
}

/**
 * Finds spoken words in the outputs of a model for a window, and places those that are not found.
 * `weights` are the relative lengths of the words.
 */
export function* alignSpoken(
  windowMs: number,
  {
    spoken,
    weights,
  }: { readonly spoken: readonly SpokenWord[]; readonly weights: readonly number[] },
  {
    emissions,
    model,
    clock,
  }: {
    readonly emissions: Emissions;
    readonly model: LatticeModel;
    readonly clock: FrameClock;
  },
): AlignmentSlices {
  const found = yield* new WordLattice(spoken, model).find(emissions);
  const { timeOf, tailFrames } = clock;
  return placeWords({
    words: found.words.map(
      (word) =>
        word && {
          startMs: timeOf(word.first),
          endMs: timeOf(word.last + tailFrames),
          score: word.score,
        },
    ),
    weights,
    sounds: soundsOf(found.isUnexplained, clock),
    windowMs,
  });
}

/** Returns the sections of sound, each up to tailFrames after its last frame. */
function soundsOf(
  isSound: Uint8Array,
  { timeOf, tailFrames, soundMsMin }: FrameClock,
): readonly Section[] {
  const sections: { startMs: number; endMs: number }[] = [];
  for (const [frame, sound] of isSound.entries()) {
    if (sound === 0) continue;
    const startMs = timeOf(frame);
    const endMs = timeOf(frame + tailFrames);
    const last = sections.at(-1);
    if (last && last.endMs >= startMs) last.endMs = endMs;
    else sections.push({ startMs, endMs });
  }
  return sections.filter(({ startMs, endMs }) => endMs - startMs >= soundMsMin);
}
