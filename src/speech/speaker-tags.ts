import { Resampler } from "../audio/resample.ts";
import { nearestTurn } from "../engines/protocol/nearest-turn.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import { joinSpeakers, type RecordingTurn } from "../engines/protocol/speakers.ts";
import { joinSamples } from "../audio/join-samples.ts";

/** Returns who speaks when in samples of less than 30 s. Throws as Recognizer.diarize() does. */
export async function findSpeakers(
  samples: Int16Array,
  options: {
    readonly recognizer: Pick<Recognizer, "diarize">;
    readonly sampleRateHertz: number;
    readonly speakersMax: number;
    readonly signal: AbortSignal;
  },
): Promise<readonly RecordingTurn[]> {
  const { recognizer, sampleRateHertz, speakersMax, signal } = options;
  const resampler = new Resampler(sampleRateHertz);
  const window = joinSamples([resampler.push(samples), resampler.end()]);
  const { turns, speakers } = await recognizer.diarize(window, signal);
  const voices = speakers.map((each) => ({
    ...each,
    embedding: Float32Array.from(each.embedding),
  }));
  return joinSpeakers([{ startMs: 0, turns, speakers: voices }], { speakersMax });
}

/**
 * Returns the number of the speaker of each word, from 1. A word that is not near any turn has the
 * speaker of the word before it, or at the start of the word after it; 0 if no word is near a turn.
 */
export function speakerTags(
  words: readonly { readonly startMs: number; readonly endMs: number }[],
  turns: readonly RecordingTurn[],
): readonly number[] {
  const found = words.map(({ startMs, endMs }) => nearestTurn((startMs + endMs) / 2, turns));
  let current = found.find((turn) => turn !== undefined);
  return found.map((turn) => {
    current = turn ?? current;
    return current ? Number(current.speaker) : 0;
  });
}
