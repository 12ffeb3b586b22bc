import { AudioError } from "../audio/audio-error.ts";
import { PcmStream, type BarePcm } from "../audio/pcm-stream.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { RecordingTurn } from "../engines/protocol/speakers.ts";
import type { RecognizeRequest, RecognizeResponse } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  RecognizeResponseSchema,
  SpeechRecognitionResultSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Violations } from "../std/service-error.ts";
import { create } from "@bufbuild/protobuf";
import { checkConfig, type CheckedConfig } from "./check-config.ts";
import { foreignOf, type ContainerEncoding } from "./container-format.ts";
import { ResultWriter, type WrittenRecognition } from "./result-writer.ts";
import { alternativeOf, descriptionOf } from "./results.ts";
import { findSpeakers } from "./speaker-tags.ts";

/** Audio sent to speech:recognize must be shorter than this number of seconds (§8). */
export const audioSecondsMax = 30;

/** Returns hints with the vocabulary of the caller's account after them. */
export type ExtendHints = (
  hints: readonly Hint[] | undefined,
  languageCode: string,
) => Promise<readonly Hint[] | undefined>;

export interface RecognizeOptions {
  /** Whether results also have their end time and language. */
  readonly describeResults: boolean;
  /**
   * Runs the recognition of this amount of audio. Throws if the caller's limits do not allow it.
   */
  readonly metered: (ms: number, run: () => Promise<void>) => Promise<void>;
  /** Adds the account's vocabulary of a language to the hints. */
  readonly extendHints: ExtendHints;
  /** Decodes audio that is not bare samples. Throws AudioError. */
  readonly decode: (content: Uint8Array, options: DecodeShortOptions) => Promise<Int16Array>;
  readonly signal: AbortSignal;
}

export interface DecodeShortOptions {
  readonly encoding: ContainerEncoding;
  readonly secondsMax: number;
  readonly signal: AbortSignal;
}

/**
 * Recognizes audio shorter than 30 s (§4.8). Throws invalid_argument with every violation.
 */
export async function recognize(
  request: RecognizeRequest,
  recognizer: Recognizer,
  { describeResults, metered, extendHints, decode, signal }: RecognizeOptions,
): Promise<RecognizeResponse> {
  const violations = new Violations();
  const config = checkConfig(
    request.config,
    "config",
    { recognizer, mode: "short", ignoresUnsupported: describeResults },
    violations,
  );
  const { content, samples: given } = checkAudio(request, config, violations);
  violations.throwIfAny();
  const samples = given ?? (await decoded(content, config, violations, { decode, signal }));
  violations.throwIfAny();

  const finals: WrittenRecognition[] = [];
  let turns: readonly RecordingTurn[] | undefined;
  const ms = (samples.length * 1000) / config.sampleRateHertz;
  await metered(ms, async () => {
    const { sampleRateHertz, speakersMax } = config;
    const finding =
      speakersMax === undefined || samples.length === 0
        ? undefined
        : findSpeakers(samples, { recognizer, sampleRateHertz, speakersMax, signal });
    // A failure is thrown after the words are recognized.
    finding?.catch(() => {});
    const hints = await hintsOf(config, extendHints);
    const options = { ...config, ...(hints && { hints }), mode: "short", signal } as const;
    const recognitions = recognizer.recognize([samples], options);
    const writer = new ResultWriter(config.writing);
    for await (const recognition of recognitions) {
      if (!recognition.isFinal) continue;
      finals.push(writer.write(recognition));
    }
    turns = await finding;
  });
  const withWords = config.withWords || turns !== undefined;
  const results = finals.map((recognition) =>
    create(SpeechRecognitionResultSchema, {
      alternatives: recognition.alternatives.map((each) =>
        alternativeOf(each, { withWords, after: "", turns }),
      ),
      ...(describeResults && descriptionOf(recognition, config)),
    }),
  );
  return create(RecognizeResponseSchema, { results });
}

/** Returns the hints of a recognition: those of the call, and the vocabulary if it is used. */
export async function hintsOf(
  {
    hints,
    languageCode,
    usesVocabulary,
  }: Pick<CheckedConfig, "hints" | "languageCode" | "usesVocabulary">,
  extendHints: ExtendHints,
): Promise<readonly Hint[] | undefined> {
  return usesVocabulary ? await extendHints(hints, languageCode) : hints;
}

async function decoded(
  content: Uint8Array,
  { form, sampleRateHertz }: CheckedConfig,
  violations: Violations,
  { decode, signal }: Pick<RecognizeOptions, "decode" | "signal">,
): Promise<Int16Array> {
  if (form.kind === "bare") return new Int16Array(0);
  try {
    const options = { encoding: form.encoding, secondsMax: audioSecondsMax, signal };
    const samples = await decode(content, options);
    checkLength(samples, sampleRateHertz, violations);
    return samples;
  } catch (error) {
    addProblem(error, violations);
    return new Int16Array(0);
  }
}

/**
 * Returns the bytes of a request's audio, and the samples if they are bare. Adds violations for
 * invalid audio.
 */
function checkAudio(
  { audio }: RecognizeRequest,
  { form, sampleRateHertz }: CheckedConfig,
  violations: Violations,
): { readonly content: Uint8Array; readonly samples?: Int16Array } {
  const source = audio?.audioSource;
  const content = source?.case === "content" ? source.value : new Uint8Array(0);
  if (source?.case === "uri") {
    violations.add("audio.uri", "is not accepted: send the audio in audio.content");
    return { content };
  }
  if (form.kind === "container") {
    if (content.byteLength === 0) violations.add("audio.content", "is required: base64 of audio");
    return { content };
  }
  const pcm = { encoding: form.encoding, sampleRateHertz, foreignOf };
  return { content, samples: bareSamples(content, pcm, violations) };
}

function bareSamples(content: Uint8Array, bare: BarePcm, violations: Violations): Int16Array {
  const { sampleRateHertz } = bare;
  try {
    const pcm = new PcmStream(bare);
    const first = pcm.push(content);
    const { samples: last, restBytes } = pcm.end();
    const samples = last.length > 0 ? last : first;
    if (samples.length === 0 && restBytes === 0) {
      violations.add("audio.content", "is required: base64 of samples");
    }
    if (restBytes > 0) {
      const problem = `has ${content.byteLength} bytes: LINEAR16 has two bytes per sample`;
      violations.add("audio.content", problem);
    }
    checkLength(samples, sampleRateHertz, violations);
    return samples;
  } catch (error) {
    addProblem(error, violations);
    return new Int16Array(0);
  }
}

function checkLength(samples: Int16Array, sampleRateHertz: number, violations: Violations): void {
  const seconds = samples.length / sampleRateHertz;
  if (sampleRateHertz > 0 && seconds >= audioSecondsMax) {
    const problem = `must be shorter than ${audioSecondsMax} s, not ${seconds.toFixed(3)} s`;
    violations.add("audio.content", problem);
  }
}

/** Adds the violation of an AudioError; throws any other error. */
function addProblem(error: unknown, violations: Violations): void {
  if (!(error instanceof AudioError)) throw error;
  const field = error.field === "audio" ? "audio.content" : "config.sampleRateHertz";
  violations.add(field, error.message);
}
