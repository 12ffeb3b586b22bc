import { readWavHeader, WavError, type WavHeader } from "../std/wav.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type {
  RecognizeRequest,
  RecognizeResponse,
  SpeechRecognitionResult,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  RecognizeResponseSchema,
  SpeechRecognitionResultSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { Violations } from "../std/service-error.ts";
import { create } from "@bufbuild/protobuf";
import { checkConfig, type CheckedConfig } from "./check-config.ts";
import { bytesPerSample, samplesOf } from "./linear16.ts";
import { alternativeOf, descriptionOf } from "./results.ts";

/** Audio sent to speech:recognize must be shorter than this number of seconds (§8). */
export const audioSecondsMax = 30;

export interface RecognizeOptions {
  /** Whether results also have their end time and language. */
  readonly describeResults: boolean;
  /**
   * Runs the recognition of this amount of audio. Throws if the caller's limits do not allow it.
   */
  readonly metered: (ms: number, run: () => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Recognizes audio shorter than 30 s (§4.8). Throws invalid_argument with every violation.
 */
export async function recognize(
  request: RecognizeRequest,
  recognizer: Recognizer,
  { describeResults, metered, signal }: RecognizeOptions,
): Promise<RecognizeResponse> {
  const violations = new Violations();
  const config = checkConfig(
    request.config,
    "config",
    { recognizer, mode: "short", ignoresHints: describeResults },
    violations,
  );
  const samples = checkAudio(request, config, violations);
  violations.throwIfAny();

  const results: SpeechRecognitionResult[] = [];
  const ms = (samples.length * 1000) / config.sampleRateHertz;
  await metered(ms, async () => {
    const recognitions = recognizer.recognize([samples], { ...config, mode: "short", signal });
    for await (const recognition of recognitions) {
      if (!recognition.isFinal) continue;
      const { withWords } = config;
      results.push(
        create(SpeechRecognitionResultSchema, {
          alternatives: recognition.alternatives.map((each) =>
            alternativeOf(each, { withWords, after: "" }),
          ),
          ...(describeResults && descriptionOf(recognition, config)),
        }),
      );
    }
  });
  return create(RecognizeResponseSchema, { results });
}

/** Returns the samples of a request, without a WAV header. Adds violations for invalid audio. */
function checkAudio(
  { audio }: RecognizeRequest,
  { sampleRateHertz }: CheckedConfig,
  violations: Violations,
): Int16Array {
  const none = new Uint8Array(0);
  const source = audio?.audioSource;
  if (source?.case === "uri") {
    violations.add("audio.uri", "is not accepted: send the samples in audio.content");
    return new Int16Array(0);
  }
  const bytes = withoutHeader(source?.value ?? none, sampleRateHertz, violations);
  if (bytes.byteLength === 0) {
    violations.add("audio.content", "is required: base64 of LINEAR16 samples");
    return new Int16Array(0);
  }
  if (bytes.byteLength % bytesPerSample !== 0) {
    violations.add(
      "audio.content",
      `has ${bytes.byteLength} bytes: LINEAR16 has two bytes per sample`,
    );
  }
  const seconds = bytes.byteLength / bytesPerSample / sampleRateHertz;
  if (sampleRateHertz > 0 && seconds >= audioSecondsMax) {
    const problem = `must be shorter than ${audioSecondsMax} s, not ${seconds.toFixed(3)} s`;
    violations.add("audio.content", problem);
  }
  return samplesOf(bytes);
}

function withoutHeader(
  content: Uint8Array,
  sampleRateHertz: number,
  violations: Violations,
): Uint8Array {
  const header = wavHeaderOf(content, violations);
  if (!header) return content;
  if (header.channels !== 1) {
    violations.add("audio.content", `must be a WAV file with 1 channel, not ${header.channels}`);
  }
  if (sampleRateHertz > 0 && header.sampleRateHertz !== sampleRateHertz) {
    const problem = `is ${sampleRateHertz}, but the WAV file in audio.content has ${header.sampleRateHertz}`;
    violations.add("config.sampleRateHertz", problem);
  }
  return content.subarray(header.dataOffset, header.dataOffset + header.dataBytes);
}

/**
 * Reads the header of a WAV file. Returns undefined for bare samples, and adds a violation and
 * returns undefined for an unusable file.
 */
function wavHeaderOf(content: Uint8Array, violations: Violations): WavHeader | undefined {
  try {
    return readWavHeader(content);
  } catch (error) {
    if (!(error instanceof WavError)) throw error;
    violations.add("audio.content", error.message);
    return undefined;
  }
}
