import type { ServiceImpl } from "@connectrpc/connect";
import type { Recognizer } from "../engines/recognizer.ts";
import type { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { recognize } from "./recognize.ts";
import { streamingRecognize, type StreamLimits } from "./streaming-recognize.ts";

/** The speech interface (sections 4.8 and 4.9) over the installed engines. */
export function createSpeechService(parts: {
  readonly recognizer: Recognizer;
  readonly limits: StreamLimits;
}): ServiceImpl<typeof Speech> {
  const { recognizer, limits } = parts;
  return {
    recognize: (request, { signal }) => recognize(request, recognizer, signal),
    streamingRecognize: (requests, { signal }) =>
      streamingRecognize(requests, recognizer, limits, signal),
  };
}
