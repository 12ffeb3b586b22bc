import { create } from "@bufbuild/protobuf";
import type { AudioError } from "../audio/audio-error.ts";
import type { RecognitionOptions, Recognizer } from "../engines/protocol/recognizer.ts";
import {
  StreamingRecognitionResult_Effort as Effort,
  StreamingRecognitionResultSchema,
  StreamingRecognizeResponse_SpeechEventType as SpeechEventType,
  StreamingRecognizeResponseSchema,
  type StreamingRecognitionConfig,
  type StreamingRecognitionConfig_Endpointing as Endpointing,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { durationFromMs, msOfDuration } from "../std/duration.ts";
import { invalidArgument, Violations, type ServiceError } from "../std/service-error.ts";
import { checkConfig, type CheckedConfig, type ConfigContext } from "./check-config.ts";
import { Deadline } from "./deadline.ts";
import {
  recognizeStream,
  streamTooLong,
  type StreamConfig,
  type StreamParts,
} from "./recognize-stream.ts";
import type { WrittenRecognition } from "./result-writer.ts";
import { alternativeOf, descriptionOf } from "./results.ts";
import { Stability } from "./stability.ts";
import { unexpectedMessage } from "./unexpected-message.ts";

/** The time after which a stream without a configuration is closed. */
const configurationMsMax = 10_000;

export interface StreamOptions extends Omit<StreamParts, "explain"> {
  /** Whether results also have their end time and language. */
  readonly describeResults: boolean;
  /** Whether a client that asks for events gets END_OF_AUDIO. Default: true. */
  readonly sendEndOfAudio?: boolean;
}

/**
 * Recognizes audio while it is spoken (§4.9). The first message must be streamingConfig, and every
 * later one audioContent; an empty audioContent ends the audio. Throws invalid_argument for any
 * other message. After the final results of the audio so far, throws the error from meterAudio(),
 * out_of_range after too long without audio, and unavailable at the maximum duration of the stream.
 */
export async function* streamingRecognize(
  requests: AsyncIterable<StreamingRecognizeRequest>,
  recognizer: Recognizer,
  parts: StreamOptions,
): AsyncGenerator<StreamingRecognizeResponse, void, undefined> {
  const { limits, describeResults, sendEndOfAudio = true } = parts;
  const messages = requests[Symbol.asyncIterator]();
  using deadline = new Deadline(limits.streamMsMax, () => streamTooLong(limits));
  const first = await deadline.within(
    configurationMsMax,
    () => messages.next(),
    (seconds) => `no streamingConfig was received within ${seconds} s`,
  );
  if (first.done) return;
  const config = checkStreamingConfig(first.value, {
    recognizer,
    mode: "live",
    ignoresUnsupported: describeResults,
  });
  let audioMs = 0;
  const meterAudio = (ms: number): ServiceError | undefined => {
    audioMs += ms;
    return parts.meterAudio(ms);
  };
  const stability = new Stability();
  const stream = { ...parts, meterAudio, explain: explained, deadline };
  for await (const written of recognizeStream(messages, config, recognizer, stream)) {
    if (written.speechEvent) {
      const type = speechEvents[written.speechEvent];
      if (type !== undefined) yield eventOf(type, written.audioEndMs);
      continue;
    }
    const description = describeResults ? descriptionOf(written, config.options) : undefined;
    const facts = { stability: stability.next(written), ...description };
    yield responseOf(written, config.withWords, facts);
    if (written.isFinal && config.singleUtterance) {
      yield create(StreamingRecognizeResponseSchema, {
        speechEventType: SpeechEventType.END_OF_SINGLE_UTTERANCE,
        ...(description && { speechEventTime: description.resultEndTime }),
      });
      return;
    }
  }
  if (config.options.speechEvents === true && sendEndOfAudio) {
    yield eventOf(SpeechEventType.END_OF_AUDIO, Math.round(audioMs));
  }
}

const efforts = { quick: Effort.QUICK, full: Effort.FULL } as const;

const speechEvents = {
  start: SpeechEventType.START_OF_SPEECH,
  end: SpeechEventType.END_OF_SPEECH,
  flushed: undefined,
} as const;

function eventOf(speechEventType: SpeechEventType, ms: number): StreamingRecognizeResponse {
  const speechEventTime = durationFromMs(ms);
  return create(StreamingRecognizeResponseSchema, { speechEventType, speechEventTime });
}

/** Converts what is wrong with the audio to the error of the stream. */
function explained({ field, message }: AudioError): ServiceError {
  const name = field === "audio" ? "audioContent" : "streamingConfig.config.sampleRateHertz";
  return invalidArgument([{ field: name, description: message }]);
}

interface CheckedStream extends StreamConfig {
  readonly withWords: boolean;
  readonly singleUtterance: boolean;
}

function checkStreamingConfig(
  { streamingRequest }: StreamingRecognizeRequest,
  context: ConfigContext,
): CheckedStream {
  if (streamingRequest.case !== "streamingConfig") {
    const received = streamingRequest.case ?? "a message without a field";
    throw unexpectedMessage(received, "streamingConfig as the first message");
  }
  const streamingConfig = streamingRequest.value;
  const violations = new Violations();
  const path = "streamingConfig.config";
  const config = checkConfig(streamingConfig.config, path, context, violations);
  const endpointing = checkEndpointing(streamingConfig.endpointing, violations);
  violations.throwIfAny();
  return checkedStream(streamingConfig, config, endpointing);
}

function checkedStream(
  { interimResults, singleUtterance, enableVoiceActivityEvents }: StreamingRecognitionConfig,
  checked: CheckedConfig,
  endpointing: Pick<RecognitionOptions, "silenceMsMin" | "utteranceMsMax">,
): CheckedStream {
  const { withWords, form, writing, hints, usesVocabulary, ...config } = checked;
  const events = { interim: interimResults, speechEvents: enableVoiceActivityEvents };
  const options = { ...config, ...endpointing, ...events, mode: "live" as const };
  const vocabulary = { ...(hints && { hints }), usesVocabulary };
  return { form, options, withWords, writing, singleUtterance, ...vocabulary };
}

/** The bounds of the endpointing extension in milliseconds. */
export const silenceMsBounds = [200, 5_000] as const;
export const utteranceMsBounds = [1_000, 60_000] as const;

function checkEndpointing(
  endpointing: Endpointing | undefined,
  violations: Violations,
): Pick<RecognitionOptions, "silenceMsMin" | "utteranceMsMax"> {
  const read = (name: "minSilence" | "maxUtterance", [min, max]: readonly [number, number]) => {
    const duration = endpointing?.[name];
    if (!duration) return undefined;
    const ms = msOfDuration(duration);
    if (ms >= min && ms <= max) return Math.round(ms);
    const problem = `must be ${min / 1000}s to ${max / 1000}s, not ${ms / 1000}s`;
    violations.add(`streamingConfig.endpointing.${name}`, problem);
    return undefined;
  };
  const silenceMsMin = read("minSilence", silenceMsBounds);
  const utteranceMsMax = read("maxUtterance", utteranceMsBounds);
  return {
    ...(silenceMsMin !== undefined && { silenceMsMin }),
    ...(utteranceMsMax !== undefined && { utteranceMsMax }),
  };
}

function responseOf(
  { isFinal, alternatives, effort }: WrittenRecognition,
  withWords: boolean,
  facts: { readonly stability: number } & Partial<ReturnType<typeof descriptionOf>>,
): StreamingRecognizeResponse {
  const after = isFinal ? " " : "";
  const result = create(StreamingRecognitionResultSchema, {
    isFinal,
    alternatives: alternatives.map((each) => alternativeOf(each, { withWords, after })),
    ...(effort && { effort: efforts[effort] }),
    ...facts,
  });
  return create(StreamingRecognizeResponseSchema, { results: [result] });
}
