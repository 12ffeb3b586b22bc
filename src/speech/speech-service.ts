import type { ServiceImpl } from "@connectrpc/connect";
import type { Recognizer } from "../engines/recognizer.ts";
import type { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { recognize } from "./recognize.ts";
import { streamingRecognize, type StreamLimits } from "./streaming-recognize.ts";

/**
 * The speech interface (sections 4.8 and 4.9) over the installed engines. `describeResults` adds to each result where it ends and its
 * language: Google's clients look for them, and the specification does not have them.
 */
export function createSpeechService(parts: {
  readonly recognizer: Recognizer;
  readonly limits: StreamLimits;
  readonly describeResults?: boolean;
}): ServiceImpl<typeof Speech> {
  const { recognizer, limits, describeResults = false } = parts;
  return {
    recognize: (request, { signal }) => recognize(request, recognizer, { describeResults, signal }),
    streamingRecognize: (requests, call) =>
      streamingRecognize(requests, recognizer, { limits, describeResults, call }),
  };
}
