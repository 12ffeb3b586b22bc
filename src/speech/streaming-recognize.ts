import { create } from "@bufbuild/protobuf";
import { AudioError } from "../audio/audio-error.ts";
import { PcmStream } from "../audio/pcm-stream.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import type {
  RecognitionInput,
  RecognitionOptions,
  Recognizer,
} from "../engines/protocol/recognizer.ts";
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
import { invalidArgument, ServiceError, Violations } from "../std/service-error.ts";
import { AudioInput } from "./audio-input.ts";
import {
  checkConfig,
  type AudioForm,
  type CheckedConfig,
  type ConfigContext,
} from "./check-config.ts";
import { foreignOf } from "./container-format.ts";
import { Deadline } from "./deadline.ts";
import { DecodedInput } from "./decoded-input.ts";
import type { DecoderPlaces } from "./decoder-places.ts";
import { hintsOf, type ExtendHints } from "./recognize.ts";
import { ResultWriter, type WrittenRecognition } from "./result-writer.ts";
import { alternativeOf, descriptionOf } from "./results.ts";
import { Stability } from "./stability.ts";
import { unexpectedMessage } from "./unexpected-message.ts";

/** The times after which a stream is closed: without a configuration, and without audio. */
const configurationMsMax = 10_000;
const audioMsMaxDefault = 60_000;

export interface LiveLimits {
  /** The maximum duration of a stream. */
  readonly streamMsMax: number;
  /** The maximum time that the stream may be without audio. Default: 60 s. */
  readonly audioMsMax?: number;
}

export interface StreamOptions {
  readonly limits: LiveLimits;
  /** Counts audio in milliseconds. Returns the reason if no audio is accepted after this. */
  readonly meterAudio: (ms: number) => ServiceError | undefined;
  /** Adds the account's vocabulary of a language to the hints. */
  readonly extendHints: ExtendHints;
  /** The parts that decode audio that is not bare samples. */
  readonly decoding: { readonly sandbox: Sandbox; readonly places: DecoderPlaces };
  /** Whether results also have their end time and language. */
  readonly describeResults: boolean;
  /** Whether a client that asks for events gets END_OF_AUDIO. Default: true. */
  readonly sendEndOfAudio?: boolean;
  /** Aborts when the client has disconnected. */
  readonly call: { readonly signal: AbortSignal };
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
  const { limits, describeResults, sendEndOfAudio = true, meterAudio, decoding, call } = parts;
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
  const count = (ms: number): ServiceError | undefined => {
    audioMs += ms;
    return meterAudio(ms);
  };
  await using audio = openAudio(config, messages, deadline, {
    limits,
    meterAudio: count,
    decoding,
  });
  const stability = new Stability();
  const writer = new ResultWriter(config.writing);
  // A client that has not yet sent any audio does not occupy an engine.
  const hasBegun = await audio.begins();
  const hints = hasBegun ? await hintsOf(config.checked, parts.extendHints) : undefined;
  const options = { ...config.options, ...(hints && { hints }), signal: call.signal };
  const recognitions = hasBegun ? recognizer.recognize(audio, options) : [];
  for await (const recognition of recognitions) {
    if (recognition.speechEvent) {
      yield eventOf(speechEvents[recognition.speechEvent], recognition.audioEndMs);
      continue;
    }
    const description = describeResults ? descriptionOf(recognition, config.options) : undefined;
    const written = writer.write(recognition);
    const facts = { stability: stability.next(written), ...description };
    yield responseOf(written, config.withWords, facts);
    if (recognition.isFinal && config.singleUtterance) {
      yield create(StreamingRecognizeResponseSchema, {
        speechEventType: SpeechEventType.END_OF_SINGLE_UTTERANCE,
        ...(description && { speechEventTime: description.resultEndTime }),
      });
      return;
    }
  }
  if (audio.refusal) throw audio.refusal;
  if (config.options.speechEvents === true && sendEndOfAudio) {
    yield eventOf(SpeechEventType.END_OF_AUDIO, Math.round(audioMs));
  }
}

const efforts = { quick: Effort.QUICK, full: Effort.FULL } as const;

const speechEvents = {
  start: SpeechEventType.START_OF_SPEECH,
  end: SpeechEventType.END_OF_SPEECH,
} as const;

function eventOf(speechEventType: SpeechEventType, ms: number): StreamingRecognizeResponse {
  const speechEventTime = durationFromMs(ms);
  return create(StreamingRecognizeResponseSchema, { speechEventType, speechEventTime });
}

/** The audio of a stream, as AudioInput or DecodedInput. */
interface StreamAudio extends AsyncIterable<RecognitionInput>, AsyncDisposable {
  begins(): Promise<boolean>;
  readonly refusal: ServiceError | undefined;
}

/** Opens the audio of the messages after the configuration. */
function openAudio(
  { form, options: { sampleRateHertz } }: CheckedStream,
  messages: AsyncIterator<StreamingRecognizeRequest>,
  deadline: Deadline,
  { limits, meterAudio, decoding }: Pick<StreamOptions, "limits" | "meterAudio" | "decoding">,
): StreamAudio {
  const samplesPerMs = sampleRateHertz / 1000;
  const idleMsMax = limits.audioMsMax ?? audioMsMaxDefault;
  if (form.kind === "bare") {
    const pcm = new PcmStream({ encoding: form.encoding, sampleRateHertz, foreignOf });
    return new AudioInput(messages, deadline, {
      idleMsMax,
      read: (bytes) => explaining(() => pcm.push(bytes)),
      meter: (samples) => meterAudio(samples.length / samplesPerMs),
    });
  }
  const source = new AudioInput(messages, deadline, {
    idleMsMax,
    read: (bytes) => bytes,
    meter: () => undefined,
  });
  let decodedMs = 0;
  return new DecodedInput(source, {
    encoding: form.encoding,
    ...decoding,
    streamMsMax: limits.streamMsMax,
    gapMsMax: audioMsMaxDefault,
    meter(samples) {
      const ms = samples.length / samplesPerMs;
      decodedMs += ms;
      return decodedMs > limits.streamMsMax ? streamTooLong(limits) : meterAudio(ms);
    },
    explain: explained,
  });
}

function explaining<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AudioError ? explained(error) : error;
  }
}

/** Converts what is wrong with the audio to the error of the stream. */
function explained({ field, message }: AudioError): ServiceError {
  const name = field === "audio" ? "audioContent" : "streamingConfig.config.sampleRateHertz";
  return invalidArgument([{ field: name, description: message }]);
}

function streamTooLong({ streamMsMax }: LiveLimits): ServiceError {
  return new ServiceError(
    "unavailable",
    `the stream has reached its maximum length of ${streamMsMax / 1000} s: open another one`,
    { reason: "STREAM_TOO_LONG", retryAfterMs: 0 },
  );
}

interface CheckedStream {
  readonly form: AudioForm;
  readonly options: Omit<RecognitionOptions, "signal">;
  readonly withWords: boolean;
  readonly writing: CheckedConfig["writing"];
  readonly singleUtterance: boolean;
  readonly checked: CheckedConfig;
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
  return { ...checkedStream(streamingConfig, config, endpointing) };
}

function checkedStream(
  { interimResults, singleUtterance, enableVoiceActivityEvents }: StreamingRecognitionConfig,
  checked: CheckedConfig,
  endpointing: Pick<RecognitionOptions, "silenceMsMin" | "utteranceMsMax">,
): CheckedStream {
  const { withWords, form, writing, ...config } = checked;
  const events = { interim: interimResults, speechEvents: enableVoiceActivityEvents };
  const options = { ...config, ...endpointing, ...events, mode: "live" as const };
  return { form, options, withWords, writing, singleUtterance, checked };
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
