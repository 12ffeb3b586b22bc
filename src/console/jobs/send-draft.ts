import type {
  TranscriptJobJson,
  TranscriptMetadataJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../api/api-error.ts";
import { kindOfFile, kindOfUrl, type MediaKind } from "../upload/media-kind.ts";
import { subjectOfUrl } from "../upload/subject-of.ts";
import { checkJob, submitJob } from "../upload/submit-job.ts";
import type { UploadRequest } from "../upload/upload-queue.ts";
import { initEmptyUpload, type EmptyUpload } from "../upload/empty-upload.ts";
import { recognitionOfFile } from "./file-recognition.ts";
import { type DraftFile, keywordsIn, type ReadyDraft } from "./job-draft.ts";
import { choiceFields, wordFields } from "./recognition-fields.ts";
import { writtenFields } from "./written-fields.ts";

/** The problems of a draft: violations by the service's field names, and problems by file id. */
export interface DraftProblems {
  readonly violations: readonly FieldViolation[];
  readonly files: ReadonlyMap<string, FileProblem>;
}

export type FileProblem =
  | { readonly kind: "NOT_MEDIA" }
  | { readonly kind: "EMPTY" }
  | { readonly kind: "TOO_LARGE"; readonly bytesMax: number }
  | { readonly kind: "SUBJECT"; readonly violation: FieldViolation };

/** Returns a problem with a file that the page detects without the service. */
export function fileProblem({ file }: DraftFile): FileProblem | undefined {
  if (kindOfFile(file) === "OTHER") return { kind: "NOT_MEDIA" };
  return file.size === 0 ? { kind: "EMPTY" } : undefined;
}

/**
 * Checks the files of a draft and their metadata before any file is sent. Returns undefined if
 * there are no problems. Throws ApiError for errors that do not concern the draft.
 */
export async function checkFiles(draft: ReadyDraft): Promise<DraftProblems | undefined> {
  const place = await initEmptyUpload(new AbortController().signal);
  const files = new Map<string, FileProblem>();
  const violations = new Map<string, FieldViolation>();
  const checks = draft.files.map(async (draftFile) => {
    const problem = fileProblem(draftFile) ?? sizeProblem(draftFile, place);
    if (problem) files.set(draftFile.id, problem);
    for (const violation of await checkJob(requestOfFile(draft, draftFile))) {
      if (violation.field !== "metadata.subject") violations.set(violation.field, violation);
      else files.set(draftFile.id, { kind: "SUBJECT", violation });
    }
  });
  await Promise.all(checks);
  if (files.size === 0 && violations.size === 0) return undefined;
  return { files, violations: [...violations.values()] };
}

/** Returns the problem for which the service would refuse the file, before any byte is sent. */
function sizeProblem({ file }: DraftFile, { bytesMax }: EmptyUpload): FileProblem | undefined {
  if (bytesMax === undefined || file.size <= bytesMax) return undefined;
  return { kind: "TOO_LARGE", bytesMax };
}

/**
 * Returns the request for a file, without its source. The service itself detects whether the file
 * is audio or video.
 */
export function requestOfFile(draft: ReadyDraft, draftFile: DraftFile): UploadRequest {
  const { file, subject } = draftFile;
  const { languageCode, model, words } = recognitionOfFile(draft, draftFile);
  const metadata = metadataOf({ ...draft, languageCode }, subject, kindOfFile(file));
  const recognition = { ...draft.recognition, model };
  return { metadata, ...optionFields({ ...draft, recognition, words }) };
}

function optionFields({
  recognition,
  words,
  isWritten,
}: Pick<ReadyDraft, "recognition" | "words" | "isWritten">) {
  return { ...choiceFields(recognition), ...wordFields(words), ...writtenFields(isWritten) };
}

/** Submits the URL of a draft. Throws ApiError, with violations per field. */
export function submitUrl(draft: ReadyDraft, key: string): Promise<TranscriptJobJson> {
  const uri = draft.url.trim();
  const subject = draft.subject.trim() || subjectOfUrl(uri);
  // The original source of this recording is its URL, so it cannot be a dictation as well.
  const metadata = metadataOf({ ...draft, isDictated: false }, subject, kindOfUrl(uri));
  return submitJob({ metadata, useUri: true, uri, ...optionFields(draft) }, { key });
}

function metadataOf(draft: ReadyDraft, subject: string, kind: MediaKind): TranscriptMetadataJson {
  return {
    fileType: kind === "VIDEO" ? "VIDEO" : "AUDIO",
    languageCode: draft.languageCode,
    subject: subject.trim(),
    description: draft.description.trim(),
    keywords: keywordsIn(draft.keywords),
    ...(draft.isDictated && { dictation: true }),
  };
}
