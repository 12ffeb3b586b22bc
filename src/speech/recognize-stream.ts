import { AudioError } from "../audio/audio-error.ts";
import { PcmStream } from "../audio/pcm-stream.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import type {
  RecognitionInput,
  RecognitionOptions,
  Recognizer,
} from "../engines/protocol/recognizer.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import type { StreamingRecognizeRequest } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { AudioInput } from "./audio-input.ts";
import type { AudioForm, CheckedConfig } from "./check-config.ts";
import { foreignOf } from "./container-format.ts";
import type { Deadline } from "./deadline.ts";
import { DecodedInput } from "./decoded-input.ts";
import type { DecoderPlaces } from "./decoder-places.ts";
import { hintsOf, type ExtendHints } from "./recognize.ts";
import { ResultWriter, type WrittenRecognition } from "./result-writer.ts";

/** The time after which a stream without audio is closed. */
const audioMsMaxDefault = 60_000;

export interface LiveLimits {
  /** The maximum duration of a stream. */
  readonly streamMsMax: number;
  /** The maximum time that the stream may be without audio. Default: 60 s. */
  readonly audioMsMax?: number;
}

/** A checked configuration of a stream. */
export interface StreamConfig {
  readonly form: AudioForm;
  readonly options: Omit<RecognitionOptions, "signal" | "hints">;
  readonly writing: CheckedConfig["writing"];
  readonly hints?: readonly Hint[];
  /** Whether the account's vocabulary is used after the hints. */
  readonly usesVocabulary: boolean;
}

export interface StreamParts {
  readonly limits: LiveLimits;
  /** Counts audio in milliseconds. Returns the reason if no audio is accepted after this. */
  readonly meterAudio: (ms: number) => ServiceError | undefined;
  /** Adds the account's vocabulary of a language to the hints. */
  readonly extendHints: ExtendHints;
  /** The parts that decode audio that is not bare samples. */
  readonly decoding: { readonly sandbox: Sandbox; readonly places: DecoderPlaces };
  /** Converts what is wrong with the audio to the error of the stream. */
  readonly explain: (error: AudioError) => ServiceError;
  /** Aborts when the client has disconnected. */
  readonly call: { readonly signal: AbortSignal };
}

/**
 * Recognizes the audio of messages as they come, and yields results as they are written, and
 * events. Throws what ends the audio, after the results of the audio before.
 */
export async function* recognizeStream(
  messages: AsyncIterator<StreamingRecognizeRequest>,
  config: StreamConfig,
  recognizer: Recognizer,
  { deadline, ...parts }: StreamParts & { readonly deadline: Deadline },
): AsyncGenerator<WrittenRecognition, void, undefined> {
  await using audio = openAudio(config, messages, deadline, parts);
  const writer = new ResultWriter(config.writing);
  // A client that has not yet sent any audio does not occupy an engine.
  const hasBegun = await audio.begins();
  if (hasBegun) {
    const { languageCode } = config.options;
    const hints = await hintsOf({ ...config, languageCode }, parts.extendHints);
    const options = { ...config.options, ...(hints && { hints }), signal: parts.call.signal };
    for await (const recognition of recognizer.recognize(audio, options)) {
      yield writer.write(recognition);
    }
  }
  if (audio.refusal) throw audio.refusal;
}

/** The audio of a stream, as AudioInput or DecodedInput. */
interface StreamAudio extends AsyncIterable<RecognitionInput>, AsyncDisposable {
  begins(): Promise<boolean>;
  readonly refusal: ServiceError | undefined;
}

/** Opens the audio of the messages after the configuration. */
function openAudio(
  { form, options: { sampleRateHertz } }: StreamConfig,
  messages: AsyncIterator<StreamingRecognizeRequest>,
  deadline: Deadline,
  { limits, meterAudio, decoding, explain }: Omit<StreamParts, "extendHints" | "call">,
): StreamAudio {
  const samplesPerMs = sampleRateHertz / 1000;
  const idleMsMax = limits.audioMsMax ?? audioMsMaxDefault;
  if (form.kind === "bare") {
    const pcm = new PcmStream({ ...form, sampleRateHertz, foreignOf });
    return new AudioInput(messages, deadline, {
      idleMsMax,
      read: (bytes) => explaining(() => pcm.push(bytes), explain),
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
    explain,
  });
}

function explaining<T>(read: () => T, explain: StreamParts["explain"]): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AudioError ? explain(error) : error;
  }
}

/** Returns the error of a stream that lasts longer than it may. */
export function streamTooLong({ streamMsMax }: LiveLimits): ServiceError {
  return new ServiceError(
    "unavailable",
    `the stream has reached its maximum length of ${streamMsMax / 1000} s: open another one`,
    { reason: "STREAM_TOO_LONG", retryAfterMs: 0 },
  );
}
