import { create, isFieldSet } from "@bufbuild/protobuf";
import {
  TranscriptMetadataSchema,
  type SubmitTranscriptJobRequest,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkHints, type HintUse } from "../engines/protocol/check-hints.ts";
import { checkSpeakerCounts } from "../engines/protocol/check-speakers.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import { checkMediaUrl, type MediaAllowList } from "../media/media-url.ts";
import { idIn } from "../std/ids.ts";
import { shown, Violations, type FieldViolation } from "../std/service-error.ts";
import { checkMetadataSize } from "../transcripts/check-metadata.ts";
import { checkTranscript } from "../transcripts/check-transcript.ts";
import { callerFields, checkDictation, mergeMetadata } from "../transcripts/merge.ts";
import type { WritingChoice } from "../writing/write-words.ts";
import { installedLanguage } from "./job-language.ts";

export interface CheckedSubmit {
  /** The caller's fields, and the original source. */
  readonly metadata: TranscriptMetadata;
  /** The source; undefined if it is among the violations. */
  readonly source: SubmittedSource | undefined;
  readonly hints: readonly Hint[];
  /** How the text is written; undefined for the words as they are. */
  readonly writing: WritingChoice | undefined;
  /** The model that recognizes the media; null for the one that serves the language. */
  readonly model: string | null;
  /** The maximum number of speakers; 0: none are distinguished; null: any number. */
  readonly speakersMax: number | null;
  readonly violations: FieldViolation[];
}

/** The models, for which requests are checked. */
export type CheckingRecognizer = HintUse["recognizer"] &
  Pick<Recognizer, "modelName" | "canDiarize" | "checkModelsKnown">;

/** A URL, a finished upload, the media of a transcript, or content that is sent later. */
export type SubmittedSource =
  | { readonly uri: string }
  | { readonly uploadId: string }
  | { readonly newVersionOf: string }
  | { readonly isSentLater: true };

/**
 * Returns the content of a submit request (§4.1), with every violation that can be found in the
 * request itself. Throws unavailable if what it asks for may be on an engine node whose models are
 * not known.
 */
export function checkSubmit(
  request: SubmitTranscriptJobRequest,
  parts: {
    readonly allow: MediaAllowList;
    readonly recognizer: CheckingRecognizer;
    /**
     * Whether an absent `useUri` is false. A message in binary, of a client of the original
     * service, does not contain a false `useUri`.
     */
    readonly absentIsFalse?: boolean;
  },
): CheckedSubmit {
  const empty = create(TranscriptMetadataSchema);
  const isAgain = request.transcript !== "";
  const metadata = mergeMetadata(empty, request.metadata, callerFields);
  const violations = [
    ...checkTranscript(metadata, isAgain ? ["languageCode"] : callerFields, []),
    ...checkMetadataSize(metadata),
    ...(isAgain ? checkAgain(request) : []),
  ];
  if (request.useUri) {
    const originalUri: TranscriptMetadata["originalSource"] = {
      case: "originalUri",
      value: request.uri,
    };
    violations.push(...checkDictation({ ...metadata, originalSource: originalUri }, metadata));
    metadata.originalSource = originalUri;
  }
  const installed = parts.recognizer.languageCodes("job");
  const language = checkLanguage(metadata.languageCode, installed, parts.recognizer);
  const isLanguageNamed = violations.some(({ field }) => field === "metadata.languageCode");
  if (language && !isLanguageNamed) violations.push(language);
  const useUri = request.useUri ?? (parts.absentIsFalse === true || isAgain ? false : undefined);
  if (useUri === undefined) {
    violations.push({
      field: "useUri",
      description: "is required: true for a URL, false for uploads/<id> or content sent later",
    });
  }
  const source = isAgain
    ? { newVersionOf: idIn("transcripts", request.transcript) ?? "" }
    : sourceOf({ useUri, uri: request.uri }, parts.allow);
  if (typeof source === "string") violations.push({ field: "uri", description: source });
  const more = new Violations();
  const languageCode = installedLanguage(metadata.languageCode, installed) ?? "";
  const model = checkModel(request.model, languageCode, parts.recognizer, more);
  const use = {
    recognizer: parts.recognizer,
    languageCode,
    mode: "job",
    model,
    ignoresUnsupported: false,
  } as const;
  const hints = checkHints(request.speechContexts, "speechContexts", use, more) ?? [];
  const speakersMax = checkSpeakers(request, parts.recognizer, more);
  violations.push(...more.all);
  const isSource = typeof source !== "string";
  return {
    metadata,
    source: isSource ? source : undefined,
    hints,
    writing: writingOf(request),
    model: model ?? null,
    speakersMax,
    violations,
  };
}

/** Finds violations in a request to transcribe the media of a transcript again. */
function* checkAgain({
  transcript,
  useUri,
  uri,
  metadata,
}: SubmitTranscriptJobRequest): Generator<FieldViolation> {
  if (idIn("transcripts", transcript) === undefined) {
    const description = `is ${shown(transcript)}; transcripts/<id> is needed`;
    yield { field: "transcript", description };
  }
  if (useUri === true) {
    yield { field: "useUri", description: `${isOfTranscript}: it must be false or absent` };
  }
  if (uri !== "") yield { field: "uri", description: `${isOfTranscript}: it must be absent` };
  for (const field of callerFields) {
    if (field === "languageCode" || field === "fileType" || !metadata) continue;
    if (isFieldSet(metadata, TranscriptMetadataSchema.field[field])) {
      const description = "must be absent: the transcript keeps its own";
      yield { field: `metadata.${field}`, description };
    }
  }
}

const isOfTranscript = "the media is that of the transcript";

function writingOf({
  enableFormatting: formats,
  enableAutomaticPunctuation: punctuation,
  profanityFilter: masksProfanity,
}: SubmitTranscriptJobRequest): WritingChoice | undefined {
  return formats || punctuation || masksProfanity
    ? { formats, punctuation, masksProfanity }
    : undefined;
}

/** Returns the model of a request; undefined if it names none, or one that cannot be used. */
function checkModel(
  model: string,
  languageCode: string,
  recognizer: CheckingRecognizer,
  violations: Violations,
): string | undefined {
  if (model === "") return undefined;
  const name = recognizer.modelName(languageCode, "job", model);
  if (name === undefined && languageCode !== "") {
    recognizer.checkModelsKnown();
    const used = recognizer.modelName(languageCode, "job");
    const problem = `is ${shown(model)}, which does not serve jobs in ${languageCode}`;
    violations.add("model", `${problem}; leave it out for ${used}, or see ListModels`);
  }
  return name;
}

function checkSpeakers(
  { diarizationConfig }: SubmitTranscriptJobRequest,
  recognizer: CheckingRecognizer,
  violations: Violations,
): number | null {
  if (!diarizationConfig) return null;
  const field = "diarizationConfig";
  const speakersMax = checkSpeakerCounts(diarizationConfig, field, violations);
  if (!diarizationConfig.enableSpeakerDiarization) return 0;
  if (!recognizer.canDiarize()) {
    const problem = "cannot be used: no diarization model is installed";
    violations.add(`${field}.enableSpeakerDiarization`, problem);
  }
  return speakersMax;
}

function checkLanguage(
  code: string,
  installed: readonly string[],
  recognizer: CheckingRecognizer,
): FieldViolation | undefined {
  if (installedLanguage(code, installed) !== undefined) return undefined;
  if (code !== "") recognizer.checkModelsKnown();
  return {
    field: "metadata.languageCode",
    description: `is ${shown(code)}, which has no installed model; installed: ${installed.join(", ") || "none"}`,
  };
}

/** Returns the source of the media, or the violation in `uri`. */
function sourceOf(
  { useUri, uri }: { readonly useUri: boolean | undefined; readonly uri: string },
  allow: MediaAllowList,
): CheckedSubmit["source"] | string {
  if (uri === "") return useUri === false ? { isSentLater: true } : "is required";
  if (useUri === undefined) return undefined;
  if (useUri) return checkMediaUrl(uri, allow) ?? { uri };
  const uploadId = idIn("uploads", uri);
  return uploadId === undefined
    ? `is ${shown(uri)}: with useUri false, uploads/<id> is needed`
    : { uploadId };
}
