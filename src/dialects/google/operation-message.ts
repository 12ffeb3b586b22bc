import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  LongRunningRecognizeMetadataSchema,
  LongRunningRecognizeResponseSchema,
} from "../../gen/google/cloud/speech/v1/speech_pb.ts";
import { OperationSchema, type Operation } from "../../gen/google/longrunning/operations_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import {
  SpeechRecognitionAlternativeSchema,
  SpeechRecognitionResultSchema,
  WordInfoSchema,
  type SpeechRecognitionResult,
  type WordInfo,
} from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Segment, Word } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { hasEnded, type StoredJob } from "../../jobs/stored-job.ts";
import { storedStatus } from "../../jobs/stored-status.ts";
import { timestampFromDate } from "../../std/duration.ts";
import type { ReadTranscript } from "../../transcripts/read-transcript.ts";
import { unpackSegments } from "../../transcripts/segments.ts";

/**
 * The key in the additional metadata of a job whose response has words with times. It is there with
 * the value "true" or not at all.
 */
export const wordTimesKey = "google.cloud.speech.v1.enableWordTimeOffsets";
/** The same for a job whose words have the numbers of their speakers. */
export const speakerTagsKey = "google.cloud.speech.v1.enableSpeakerDiarization";

/** The memory for a response, in bytes per byte of the transcript's JSON. */
const heldPerByte = 4;

/** Returns the operation of a job, without its response or error. */
export function operationMessage(job: StoredJob): Operation {
  const { originalSource } = job.metadata;
  const metadata = create(LongRunningRecognizeMetadataSchema, {
    progressPercent: job.progressPercent,
    startTime: timestampFromDate(job.startedAt),
    lastUpdateTime: timestampFromDate(job.updatedAt),
    uri: originalSource.case === "originalUri" ? originalSource.value : "",
  });
  return create(OperationSchema, {
    name: `operations/${job.id}`,
    metadata: anyPack(LongRunningRecognizeMetadataSchema, metadata),
    done: hasEnded(job.state),
    // A list shows which operations have failed, which takes no reading.
    ...(job.error !== null && { result: failureOf(job.error) }),
  });
}

/**
 * Returns the result of a job that has ended: its error, or the current text of its transcript. The
 * error is NOT_FOUND if the transcript was deleted.
 */
export async function resultOf(
  { accountId, transcriptId, error, metadata }: StoredJob,
  { read, signal }: { readonly read: ReadTranscript; readonly signal: AbortSignal },
): Promise<Operation["result"]> {
  if (error !== null) return failureOf(error);
  const stored =
    transcriptId === null
      ? undefined
      : await read({ accountId, signal }, transcriptId, { heldPerByte });
  if (!stored) {
    const message = "the transcript of the operation was deleted";
    return { case: "error", value: create(StatusSchema, { code: 5, message }) };
  }
  const { languageCode } = stored.metadata;
  const isAsked = (key: string) => metadata.additionalMetadata[key] === "true";
  const segments = await unpackSegments(stored.segments);
  const tags = isAsked(speakerTagsKey) ? speakerTagsIn(segments) : undefined;
  const withWords = isAsked(wordTimesKey) || tags !== undefined;
  const response = create(LongRunningRecognizeResponseSchema, {
    results: segments.map((segment) => resultMessage(segment, { languageCode, withWords, tags })),
  });
  return { case: "response", value: anyPack(LongRunningRecognizeResponseSchema, response) };
}

/**
 * Returns the error of a job without its details: Google's client cannot read an operation over
 * REST whose error has google.rpc.ErrorInfo, which is not among the types that it knows.
 */
function failureOf(error: string): Operation["result"] {
  const { code, message } = storedStatus(error);
  return { case: "error", value: create(StatusSchema, { code, message }) };
}

/** Returns the number of each speaker, from 1 in the order in which they begin to speak. */
function speakerTagsIn(segments: readonly Segment[]): ReadonlyMap<string, number> {
  const ids = new Set(segments.map(({ speakerId }) => speakerId));
  ids.delete("");
  return new Map([...ids].map((id, at) => [id, at + 1]));
}

function resultMessage(
  { words, endTime, speakerId }: Segment,
  {
    languageCode,
    withWords,
    tags,
  }: {
    readonly languageCode: string;
    readonly withWords: boolean;
    /** The numbers of the speakers, if they are in the response. */
    readonly tags: ReadonlyMap<string, number> | undefined;
  },
): SpeechRecognitionResult {
  const speakerTag = tags?.get(speakerId) ?? 0;
  const confidence = meanConfidence(words);
  const text = words.map(({ word }) => word).join("");
  const alternative = create(SpeechRecognitionAlternativeSchema, {
    transcript: text.trim(),
    ...(confidence !== undefined && { confidence }),
    words: withWords ? words.map((word) => wordMessage(word, speakerTag)) : [],
  });
  return create(SpeechRecognitionResultSchema, {
    alternatives: [alternative],
    ...(endTime && { resultEndTime: endTime }),
    languageCode,
  });
}

/** Returns the mean confidence of the words; undefined unless each of them has one. */
function meanConfidence(words: readonly Word[]): number | undefined {
  let sum = 0;
  for (const { confidence } of words) {
    if (confidence === undefined) return undefined;
    sum += confidence;
  }
  return words.length === 0 ? undefined : sum / words.length;
}

function wordMessage(
  { startTime, endTime, word, confidence, spoken, estimatedTimes }: Word,
  speakerTag: number,
): WordInfo {
  return create(WordInfoSchema, {
    speakerTag,
    ...(startTime && { startTime }),
    ...(endTime && { endTime }),
    word: word.trim(),
    estimatedTimes: estimatedTimes === true,
    ...(confidence !== undefined && { confidence }),
    ...(spoken !== undefined && { spoken }),
  });
}
