import { create } from "@bufbuild/protobuf";
import { endUtterance, type RecognitionInput, type Recognizer } from "../engines/recognizer.ts";
import type { Recognition, RecognitionOptions } from "../engines/recognizer.ts";
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
import { checkConfig, type CheckedConfig } from "./check-config.ts";
import { Deadline } from "./deadline.ts";
import { SampleJoiner } from "./linear16.ts";
import { alternativeOf } from "./results.ts";

/** Decisions, Speech: a stream is closed after this long without a configuration, and without audio. */
const configurationMsMax = 10_000;
const audioMsMax = 60_000;

export interface StreamLimits {
  /** How long a stream may last. */
  readonly streamMsMax: number;
  readonly configurationMsMax?: number;
  readonly audioMsMax?: number;
}

/**
 * Recognizes audio while it is spoken (section 4.9). The first message is streamingConfig, every later one audioContent; an empty
 * one finalises. Throws invalid_argument for anything else, out_of_range when nothing comes for too long.
 */
export async function* streamingRecognize(
  requests: AsyncIterable<StreamingRecognizeRequest>,
  recognizer: Recognizer,
  limits: StreamLimits,
  signal: AbortSignal,
): AsyncGenerator<StreamingRecognizeResponse, void, undefined> {
  const messages = requests[Symbol.asyncIterator]();
  using deadline = new Deadline(limits.streamMsMax, () => {
    const seconds = limits.streamMsMax / 1000;
    return new ServiceError(
      "out_of_range",
      `the stream has lasted ${seconds} s, the longest it may`,
    );
  });
  const first = await deadline.within(
    limits.configurationMsMax ?? configurationMsMax,
    () => messages.next(),
    (seconds) => `no streamingConfig came within ${seconds} s`,
  );
  if (first.done) return;
  const config = checkStreamingConfig(first.value, recognizer.languageCodes);
  const audio = readAudio(messages, deadline, limits.audioMsMax ?? audioMsMax);

  for await (const recognition of recognizer.recognize(audio, { ...config.options, signal })) {
    yield responseOf(recognition, config.withWords);
    if (recognition.isFinal && config.singleUtterance) {
      yield create(StreamingRecognizeResponseSchema, {
        speechEventType: SpeechEventType.END_OF_SINGLE_UTTERANCE,
      });
      return;
    }
  }
}

/** The samples and marks of the messages after the first; ends at an empty audioContent. */
async function* readAudio(
  messages: AsyncIterator<StreamingRecognizeRequest>,
  deadline: Deadline,
  idleMsMax: number,
): AsyncGenerator<RecognitionInput, void, undefined> {
  const joiner = new SampleJoiner();
  for (;;) {
    const next = await deadline.within(
      idleMsMax,
      () => messages.next(),
      (seconds) => `no audio came for ${seconds} s: send an empty audioContent to finalize`,
    );
    if (next.done) return;
    const { streamingRequest } = next.value;
    switch (streamingRequest.case) {
      case "audioContent":
        if (streamingRequest.value.byteLength === 0) return;
        yield joiner.push(streamingRequest.value);
        break;
      case "finalizeUtterance":
        if (streamingRequest.value) yield endUtterance;
        break;
      case "streamingConfig":
        throw unexpected("a second streamingConfig", "audioContent");
      case undefined:
        throw unexpected("a message without a field", "audioContent");
    }
  }
}

interface CheckedStream {
  readonly options: Omit<RecognitionOptions, "signal">;
  readonly withWords: boolean;
  readonly singleUtterance: boolean;
}

function checkStreamingConfig(
  { streamingRequest }: StreamingRecognizeRequest,
  languageCodes: readonly string[],
): CheckedStream {
  if (streamingRequest.case !== "streamingConfig") {
    const came = streamingRequest.case ?? "a message without a field";
    throw unexpected(came, "streamingConfig as the first message");
  }
  const streamingConfig = streamingRequest.value;
  const violations = new Violations();
  const path = "streamingConfig.config";
  const config = checkConfig(streamingConfig.config, path, languageCodes, violations);
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
const silenceMsBounds = [200, 5_000] as const;
const utteranceMsBounds = [1_000, 60_000] as const;

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
): StreamingRecognizeResponse {
  const after = isFinal ? " " : "";
  const result = create(StreamingRecognitionResultSchema, {
    isFinal,
    alternatives: alternatives.map((each) => alternativeOf(each, { withWords, after })),
  });
  return create(StreamingRecognizeResponseSchema, { results: [result] });
}

function unexpected(came: string, expected: string): ServiceError {
  return new ServiceError("invalid_argument", `${came} came: expected ${expected}`, {
    reason: "UNEXPECTED_MESSAGE",
  });
}
