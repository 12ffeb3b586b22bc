import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf, type Caller } from "../auth/caller.ts";
import type { Meter } from "../auth/meter.ts";
import type { ServedModel } from "../engines/pool/pool-state.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import { traced } from "../tracing/tracing.ts";
import type { AccountHints } from "../vocabulary/account-hints.ts";
import { DecoderPlaces, streamDecodersMax } from "./decoder-places.ts";
import { ShortDecoder } from "./decode-short.ts";
import { modelsMessage } from "./models-message.ts";
import { recognize, type ExtendHints } from "./recognize.ts";
import type { LiveLimits } from "./recognize-stream.ts";
import { streamingRecognize } from "./streaming-recognize.ts";

/** The parts that decode audio, shared by all services of a node. */
export interface SpeechDecoding {
  readonly sandbox: Sandbox;
  readonly places: DecoderPlaces;
  readonly short: ShortDecoder;
}

/** Creates the parts that decode audio in this sandbox. */
export function createSpeechDecoding(sandbox: Sandbox): SpeechDecoding {
  const places = new DecoderPlaces(streamDecodersMax);
  return { sandbox, places, short: new ShortDecoder(sandbox) };
}

/**
 * Creates the speech interface (§4.8 and §4.9) for the installed engines. `describeResults` adds
 * the end time and language to each result, which Google's clients need but the specification does
 * not have. `sendEndOfAudio` is false for clients to which the number of END_OF_AUDIO means
 * something else.
 */
export function createSpeechService(parts: {
  readonly recognizer: Recognizer;
  readonly models: () => readonly ServedModel[];
  readonly limits: LiveLimits;
  readonly meter: Pick<Meter, "openStream" | "recognizeShort">;
  readonly decoding: SpeechDecoding;
  readonly accountHints: AccountHints;
  readonly describeResults?: boolean;
  readonly sendEndOfAudio?: boolean;
}): ServiceImpl<typeof Speech> {
  const { recognizer, models, limits, meter, decoding } = parts;
  const { describeResults = false, sendEndOfAudio = true } = parts;
  const extendHintsOf =
    ({ accountId }: Pick<Caller, "accountId">): ExtendHints =>
    async (hints, languageCode) =>
      await parts.accountHints.extend(hints, { accountId, languageCode });
  return {
    recognize(request, call) {
      const caller = callerOf(call);
      const metered = async (ms: number, run: () => Promise<void>): Promise<void> =>
        meter.recognizeShort(caller, ms, run);
      return recognize(request, recognizer, {
        describeResults,
        metered,
        extendHints: extendHintsOf(caller),
        decode: (content, options) =>
          traced("decode", {}, () =>
            decoding.short.decode(content, { ...options, accountId: caller.accountId }),
          ),
        signal: call.signal,
      });
    },
    async *streamingRecognize(requests, call) {
      using stream = await meter.openStream(callerOf(call));
      const meterAudio = stream.meterAudio.bind(stream);
      yield* streamingRecognize(requests, recognizer, {
        limits,
        describeResults,
        sendEndOfAudio,
        meterAudio,
        extendHints: extendHintsOf(callerOf(call)),
        decoding,
        call,
      });
    },
    listModels() {
      return modelsMessage(models(), recognizer);
    },
  };
}
