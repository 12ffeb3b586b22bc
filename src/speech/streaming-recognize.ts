import { create } from "@bufbuild/protobuf";
import type {
  Recognition,
  RecognitionOptions,
  Recognizer,
} from "../engines/protocol/recognizer.ts";
import {
  StreamingRecognitionResultSchema,
  StreamingRecognizeResponse_SpeechEventType as SpeechEventType,
  StreamingRecognizeResponseSchema,
  type StreamingRecognitionConfig,
  type StreamingRecognitionConfig_Endpointing as Endpointing,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../std/duration.ts";
import { ServiceError, Violations } from "../std/service-error.ts";
import { AudioInput } from "./audio-input.ts";
import { checkConfig, type CheckedConfig, type Hearing } from "./check-config.ts";
import { Deadline } from "./deadline.ts";
import { alternativeOf, descriptionOf } from "./results.ts";
import { Stability } from "./stability.ts";
import { unexpectedMessage } from "./unexpected-message.ts";

/**
 * Decisions, Speech: a stream is closed after this long without a configuration, and without audio.
 */
const configurationMsMax = 10_000;
const audioMsMax = 60_000;

export interface StreamLimits {
  /** How long a stream may last. */
  readonly streamMsMax: number;
  readonly configurationMsMax?: number;
  readonly audioMsMax?: number;
}

export interface StreamOptions {
  readonly limits: StreamLimits;
  /** Called with how much audio came, in milliseconds; answers why no more of it is heard. */
  readonly hear: (ms: number) => ServiceError | undefined;
  /** Results also say where they end, and their language. */
  readonly describeResults: boolean;
  /** Aborts when the caller has gone; only looked at once there is something to give up. */
  readonly call: { readonly signal: AbortSignal };
}

/**
 * Recognizes audio while it is spoken (section 4.9). The first message is streamingConfig, every
 * later one audioContent; an empty one finalizes. Throws invalid_argument for anything else, and,
 * after the finals of what was heard, what hear() answers, out_of_range when nothing comes for too
 * long, and unavailable when the stream has lasted as long as it may.
 */
export async function* streamingRecognize(
  requests: AsyncIterable<StreamingRecognizeRequest>,
  recognizer: Recognizer,
  { limits, describeResults, hear, call }: StreamOptions,
): AsyncGenerator<StreamingRecognizeResponse, void, undefined> {
  const messages = requests[Symbol.asyncIterator]();
  using deadline = new Deadline(limits.streamMsMax, () => {
    const seconds = limits.streamMsMax / 1000;
    return new ServiceError(
      "unavailable",
      `the stream has lasted ${seconds} s, the longest it may: open another one`,
      { reason: "STREAM_TOO_LONG", retryAfterMs: 0 },
    );
  });
  const first = await deadline.within(
    limits.configurationMsMax ?? configurationMsMax,
    () => messages.next(),
    (seconds) => `no streamingConfig came within ${seconds} s`,
  );
  if (first.done) return;
  const config = checkStreamingConfig(first.value, {
    recognizer,
    mode: "live",
    ignoresHints: describeResults,
  });
  const samplesPerMs = config.options.sampleRateHertz / 1000;
  const audio = new AudioInput(messages, deadline, {
    idleMsMax: limits.audioMsMax ?? audioMsMax,
    hear: (samples) => hear(samples / samplesPerMs),
  });
  const options = { ...config.options, signal: call.signal };
  const stability = new Stability();
  // A caller that has said nothing yet takes nothing but its socket.
  const recognitions = (await audio.begins()) ? recognizer.recognize(audio, options) : [];
  for await (const recognition of recognitions) {
    const description = describeResults ? descriptionOf(recognition, config.options) : undefined;
    const facts = { stability: stability.next(recognition), ...description };
    yield responseOf(recognition, config.withWords, facts);
    if (recognition.isFinal && config.singleUtterance) {
      yield create(StreamingRecognizeResponseSchema, {
        speechEventType: SpeechEventType.END_OF_SINGLE_UTTERANCE,
        ...(description && { speechEventTime: description.resultEndTime }),
      });
      return;
    }
  }
  if (audio.refusal) throw audio.refusal;
}

interface CheckedStream {
  readonly options: Omit<RecognitionOptions, "signal">;
  readonly withWords: boolean;
  readonly singleUtterance: boolean;
}

function checkStreamingConfig(
  { streamingRequest }: StreamingRecognizeRequest,
  hearing: Hearing,
): CheckedStream {
  if (streamingRequest.case !== "streamingConfig") {
    const came = streamingRequest.case ?? "a message without a field";
    throw unexpectedMessage(came, "streamingConfig as the first message");
  }
  const streamingConfig = streamingRequest.value;
  const violations = new Violations();
  const path = "streamingConfig.config";
  const config = checkConfig(streamingConfig.config, path, hearing, violations);
  const endpointing = checkEndpointing(streamingConfig.endpointing, violations);
  violations.throwIfAny();
  return { ...checkedStream(streamingConfig, config, endpointing) };
}

function checkedStream(
  { interimResults, singleUtterance }: StreamingRecognitionConfig,
  { withWords, ...config }: CheckedConfig,
  endpointing: Pick<RecognitionOptions, "silenceMsMin" | "utteranceMsMax">,
): CheckedStream {
  const options = { ...config, ...endpointing, mode: "live" as const, interim: interimResults };
  return { options, withWords, singleUtterance };
}

/** Bounds of the endpointing extension, milliseconds. */
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
    const problem = `is ${ms / 1000}s: ${min / 1000}s to ${max / 1000}s is accepted`;
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
  { isFinal, alternatives }: Recognition,
  withWords: boolean,
  facts: { readonly stability: number } & Partial<ReturnType<typeof descriptionOf>>,
): StreamingRecognizeResponse {
  const after = isFinal ? " " : "";
  const result = create(StreamingRecognitionResultSchema, {
    isFinal,
    alternatives: alternatives.map((each) => alternativeOf(each, { withWords, after })),
    ...facts,
  });
  return create(StreamingRecognizeResponseSchema, { results: [result] });
}
