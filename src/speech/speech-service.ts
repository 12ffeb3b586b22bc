import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { ServedModel } from "../engines/pool/engine-pool.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { modelsMessage } from "./models-message.ts";
import { recognize } from "./recognize.ts";
import { streamingRecognize, type LiveLimits } from "./streaming-recognize.ts";

/**
 * Creates the speech interface (§4.8 and §4.9) for the installed engines. `describeResults` adds
 * the end time and language to each result, which Google's clients need but the specification does
 * not have.
 */
export function createSpeechService(parts: {
  readonly recognizer: Recognizer;
  readonly models: () => readonly ServedModel[];
  readonly limits: LiveLimits;
  readonly meter: Pick<Meter, "openStream" | "recognizeShort">;
  readonly describeResults?: boolean;
}): ServiceImpl<typeof Speech> {
  const { recognizer, models, limits, meter, describeResults = false } = parts;
  return {
    recognize(request, call) {
      const caller = callerOf(call);
      const metered = async (ms: number, run: () => Promise<void>): Promise<void> =>
        meter.recognizeShort(caller, ms, run);
      return recognize(request, recognizer, { describeResults, metered, signal: call.signal });
    },
    async *streamingRecognize(requests, call) {
      using stream = await meter.openStream(callerOf(call));
      const meterAudio = stream.meterAudio.bind(stream);
      yield* streamingRecognize(requests, recognizer, {
        limits,
        describeResults,
        meterAudio,
        call,
      });
    },
    listModels() {
      return modelsMessage(models());
    },
  };
}
