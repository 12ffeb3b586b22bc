import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { AudioError } from "../../audio/audio-error.ts";
import { PcmStream, type BarePcm } from "../../audio/pcm-stream.ts";
import { callerOf } from "../../auth/caller.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import {
  LongRunningRecognizeRequestSchema,
  type LongRunningRecognizeRequest,
  type Speech,
} from "../../gen/google/cloud/speech/v1/speech_pb.ts";
import {
  SubmitTranscriptJobRequestSchema,
  TranscriptMetadata_FileType as FileType,
  type SubmitTranscriptJobRequest,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { JobCalls } from "../../jobs/job-calls.ts";
import { idempotencyKeyOf } from "../../jobs/submit-job.ts";
import { checkConfig, type CheckedConfig } from "../../speech/check-config.ts";
import { foreignOf } from "../../speech/container-format.ts";
import { ServiceError, shown, Violations } from "../../std/service-error.ts";
import { wavHeader } from "../../std/wav.ts";
import { operationMessage, speakerTagsKey, wordTimesKey } from "./operation-message.ts";

/** The maximum size of the audio in a request in bytes, as that of Google's service. */
const contentBytesMax = 10_485_760;

export interface LongRunningParts {
  readonly jobs: Pick<JobCalls, "submit">;
  readonly recognizer: Recognizer;
  /** Stores media for an account. Returns the id of its finished upload. */
  readonly storeMedia: (
    accountId: string,
    media: readonly Uint8Array[],
    signal: AbortSignal,
  ) => Promise<string>;
}

/**
 * Submits a job for a recording of any length, and answers its operation. Content is stored like an
 * upload; bare samples get the header of a WAV file. Throws invalid_argument with every violation.
 */
export function createLongRunningRecognize({
  jobs,
  recognizer,
  storeMedia,
}: LongRunningParts): ServiceImpl<typeof Speech>["longRunningRecognize"] {
  return async (request, context) => {
    const caller = callerOf(context);
    const key = idempotencyKeyOf(context);
    const violations = new Violations();
    const use = { recognizer, mode: "job", ignoresUnsupported: true } as const;
    const config = checkConfig(request.config, "config", use, violations);
    const media = mediaOf(request, config, violations);
    if (request.outputConfig?.outputType.case !== undefined) {
      const problem = "is not supported: the operation has the response";
      violations.add("outputConfig.gcsUri", problem);
    }
    violations.throwIfAny();
    const submitted = submitRequest(request, config, "uri" in media ? media.uri : undefined);
    const job = await withGoogleFields(() =>
      jobs.submit(caller, submitted, {
        key,
        ...(key !== null && { sha256: hashOf(request) }),
        ...("content" in media && {
          storeContent: () => storeMedia(caller.accountId, media.content, context.signal),
        }),
      }),
    );
    return operationMessage(job);
  };
}

/** Returns the URL or the bytes of the recording. Adds violations if there is neither. */
function mediaOf(
  { audio }: LongRunningRecognizeRequest,
  { form, sampleRateHertz }: CheckedConfig,
  violations: Violations,
): { readonly uri: string } | { readonly content: readonly Uint8Array[] } {
  const source = audio?.audioSource;
  if (source?.case === "uri" && source.value !== "") {
    const { value: uri } = source;
    if (uri.startsWith("gs://")) {
      const problem = `is ${shown(uri)}, in Google's storage, which cannot be read`;
      violations.add("audio.uri", `${problem}: use an https:// URL, or send audio.content`);
    }
    return { uri };
  }
  const content = source?.case === "content" ? source.value : new Uint8Array(0);
  if (content.byteLength === 0) {
    violations.add("audio", "is required: content with bytes of audio, or the uri of a recording");
  } else if (content.byteLength > contentBytesMax) {
    const problem = `has ${content.byteLength} bytes; at most ${contentBytesMax} are allowed`;
    violations.add("audio.content", `${problem}: use audio.uri`);
  } else if (form.kind === "bare") {
    return { content: wavOf(content, { encoding: form.encoding, sampleRateHertz }, violations) };
  }
  return { content: [content] };
}

/** Returns bare samples as a WAV file in parts. */
function wavOf(
  content: Uint8Array,
  { encoding, sampleRateHertz }: BarePcm,
  violations: Violations,
): readonly Uint8Array[] {
  try {
    const pcm = new PcmStream({ encoding, sampleRateHertz, foreignOf });
    const first = pcm.push(content);
    const { samples: last, restBytes } = pcm.end();
    const samples = last.length > 0 ? last : first;
    if (restBytes > 0) {
      const problem = `has ${content.byteLength} bytes: LINEAR16 has two bytes per sample`;
      violations.add("audio.content", problem);
    }
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    return [wavHeader({ sampleRateHertz, dataBytes: bytes.byteLength }), bytes];
  } catch (error) {
    if (!(error instanceof AudioError)) throw error;
    const field = error.field === "audio" ? "audio.content" : "config.sampleRateHertz";
    violations.add(field, error.message);
    return [];
  }
}

/** Returns the request for the job. Hints that the model cannot use are left out. */
function submitRequest(
  { config }: LongRunningRecognizeRequest,
  { languageCode, hints = [], withWords, writing, speakersMax }: CheckedConfig,
  uri: string | undefined,
): SubmitTranscriptJobRequest {
  return create(SubmitTranscriptJobRequestSchema, {
    metadata: {
      fileType: FileType.AUDIO,
      languageCode,
      additionalMetadata: {
        ...(withWords && { [wordTimesKey]: "true" }),
        ...(speakersMax !== undefined && { [speakerTagsKey]: "true" }),
      },
    },
    useUri: uri !== undefined,
    uri: uri ?? "",
    speechContexts: hints.map(({ phrase, boost, soundsLike = [] }) => ({
      phrases: [phrase],
      boost,
      soundsLike: [...soundsLike],
    })),
    ignoreVocabulary: config?.ignoreVocabulary ?? false,
    profanityFilter: writing.masksProfanity,
    enableAutomaticPunctuation: writing.punctuation,
    enableFormatting: writing.formats,
    ...(speakersMax !== undefined && {
      diarizationConfig: { enableSpeakerDiarization: true, maxSpeakerCount: speakersMax },
    }),
  });
}

/** The fields of the job's request that callers know by another name. */
const googleFields: Readonly<Record<string, string>> = {
  uri: "audio.uri",
  "metadata.languageCode": "config.languageCode",
};

/** Runs a submission. Its violations name the fields of the caller's request. */
async function withGoogleFields<T>(submit: () => Promise<T>): Promise<T> {
  try {
    return await submit();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.violations.length === 0) throw error;
    const violations = new Violations();
    for (const { field, description } of error.violations) {
      violations.add(googleFields[field] ?? field, description);
    }
    violations.throwIfAny();
    throw error;
  }
}

/** Returns the hash of a request, which distinguishes it from requests of other methods. */
function hashOf(request: LongRunningRecognizeRequest): Buffer {
  const hash = createHash("sha256").update(LongRunningRecognizeRequestSchema.typeName);
  return hash.update(toBinary(LongRunningRecognizeRequestSchema, request)).digest();
}
