import { placeWords, type Section } from "../alignment/place-words.ts";
import { type AlignmentSlices, engineSampleRate } from "../protocol/engine.ts";
import { leadFrames } from "./decoder-parts.ts";
import { featureMs } from "./filter-banks.ts";
import type { TokenTable } from "./token-table.ts";
import { Speller } from "./word-arcs.ts";
import { type Emissions, WordLattice } from "./word-lattice.ts";

/** The frames that a letter lasts after its last frame, since models output it where it begins. */
const letterFrames = 2;

export interface AlignParts {
  readonly table: TokenTable;
  readonly frameMs: number;
  /** How long after the beginning of a letter the model outputs it. */
  readonly delayMs: number;
  /** Computes the outputs of the model for a window, after leadFrames of silence. */
  readonly emissions: (window: Int16Array) => Generator<void | Promise<void>, Emissions, void>;
}

/** Returns a function that aligns words with a CTC model. */
export function wordAligner(parts: AlignParts) {
  const { table, frameMs, delayMs } = parts;
  const speller = new Speller(table);
  const space = table.tokens.findIndex((token) => token?.startsWord && token.text.trim() === "");
  const tokens = { blank: table.blank, space: space < 0 ? undefined : space };
  const timeOf = (frame: number) => frame * frameMs - leadFrames * featureMs - delayMs;
  return function* align(window: Int16Array, words: readonly string[]): AlignmentSlices {
    const spoken = words.map((word) => speller.spell(word));
    const outputs = yield* parts.emissions(window);
    const found = yield* new WordLattice(spoken, tokens).find(outputs);
    return placeWords({
      words: found.words.map(
        (word) =>
          word && {
            startMs: timeOf(word.first),
            endMs: timeOf(word.last + letterFrames),
            score: word.score,
          },
      ),
      weights: spoken.map(({ length }) => length),
      sounds: soundsOf(found.isUnexplained, timeOf),
      windowMs: (1000 * window.length) / engineSampleRate,
    });
  };
}

/** Returns the sections of sound, each up to letterFrames after its last frame. */
function soundsOf(isSound: Uint8Array, timeOf: (frame: number) => number): readonly Section[] {
  const sections: { startMs: number; endMs: number }[] = [];
  for (const [frame, sound] of isSound.entries()) {
    if (sound === 0) continue;
    const startMs = timeOf(frame);
    const endMs = timeOf(frame + letterFrames);
    const last = sections.at(-1);
    if (last && last.endMs >= startMs) last.endMs = endMs;
    else sections.push({ startMs, endMs });
  }
  return sections;
}
