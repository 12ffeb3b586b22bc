import { espeak, flite, joined, silence } from "../../test/fixtures/flite.ts";
import { icelandicSentences } from "../icelandic-sentences.ts";
import { sentences } from "../sentences.ts";

/** The speech of a stream. */
export interface Speech {
  readonly languageCode: string;
  /** The utterances, each with a little silence around it. */
  readonly utterances: readonly Int16Array[];
  /** All utterances, separated by pauses that end an utterance. */
  readonly talk: Int16Array;
}

const utterancesMax = 10;

/**
 * Generates Icelandic speech with espeak-ng, and English speech with flite for all other languages.
 */
export function speechOf(languageCode: string): Speech {
  const isIcelandic = languageCode.startsWith("is");
  const texts = (isIcelandic ? icelandicSentences : sentences).slice(0, utterancesMax);
  const edge = silence(100);
  const utterances = texts.map((text) =>
    joined(edge, isIcelandic ? espeak(text) : flite(text, { voice: "rms" }), edge),
  );
  const pause = silence(700);
  const talk = joined(...utterances.flatMap((utterance) => [pause, utterance]), pause);
  return { languageCode, utterances, talk };
}
