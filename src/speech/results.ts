import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { EngineWord, Hypothesis } from "../engines/protocol/engine.ts";
import type { Recognition } from "../engines/protocol/recognizer.ts";
import {
  SpeechRecognitionAlternativeSchema,
  WordInfoSchema,
  type SpeechRecognitionAlternative,
  type WordInfo,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { durationFromMs } from "../std/duration.ts";

/**
 * Returns a reading in the form of the API. `after` is appended to its text: a space on streams
 * (docs/api.md, Speech).
 */
export function alternativeOf(
  { text, confidence, words }: Hypothesis,
  { withWords, after }: { withWords: boolean; after: "" | " " },
): SpeechRecognitionAlternative {
  return create(SpeechRecognitionAlternativeSchema, {
    transcript: `${text}${after}`,
    ...(confidence !== undefined && { confidence }),
    words: withWords ? words.map(wordInfoOf) : [],
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

function wordInfoOf({ text, startMs, endMs, confidence }: EngineWord): WordInfo {
  return create(WordInfoSchema, {
    word: text,
    startTime: durationFromMs(startMs),
    endTime: durationFromMs(endMs),
    ...(confidence !== undefined && { confidence }),
  });
}
