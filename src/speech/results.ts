import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Recognition } from "../engines/protocol/recognizer.ts";
import type { RecordingTurn } from "../engines/protocol/speakers.ts";
import {
  SpeechRecognitionAlternativeSchema,
  WordInfoSchema,
  type SpeechRecognitionAlternative,
  type WordInfo,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { durationFromMs } from "../std/duration.ts";
import type { ResultWord, WrittenHypothesis } from "./result-writer.ts";
import { speakerTags } from "./speaker-tags.ts";

/**
 * Returns a reading in the form of the API. `after` is appended to its text: a space on streams
 * (docs/api.md, Speech). With `turns`, words have the numbers of their speakers.
 */
export function alternativeOf(
  { text, confidence, words }: WrittenHypothesis,
  {
    withWords,
    after,
    turns = [],
  }: { withWords: boolean; after: "" | " "; turns?: readonly RecordingTurn[] | undefined },
): SpeechRecognitionAlternative {
  const tags = withWords ? speakerTags(words, turns) : [];
  return create(SpeechRecognitionAlternativeSchema, {
    transcript: `${text}${after}`,
    ...(confidence !== undefined && { confidence }),
    words: withWords ? words.map((word, at) => wordInfoOf(word, tags[at] ?? 0)) : [],
  });
}

/**
 * Returns the end time and language of a result, which are in Google's messages but not in the
 * specification.
 */
export function descriptionOf(
  { audioEndMs }: Recognition,
  { languageCode }: { readonly languageCode: string },
): { resultEndTime: Duration; languageCode: string } {
  return { resultEndTime: durationFromMs(audioEndMs), languageCode };
}

function wordInfoOf(
  { text, startMs, endMs, confidence, spoken, estimatedTimes }: ResultWord,
  speakerTag: number,
): WordInfo {
  return create(WordInfoSchema, {
    word: text,
    speakerTag,
    estimatedTimes: estimatedTimes === true,
    startTime: durationFromMs(startMs),
    endTime: durationFromMs(endMs),
    ...(confidence !== undefined && { confidence }),
    ...(spoken !== undefined && { spoken }),
  });
}
