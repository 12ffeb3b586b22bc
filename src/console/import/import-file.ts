import type {
  CreateTranscriptResponseJson,
  TranscriptMetadataJson,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError, type FieldViolation } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";
import { importedFormat, type ImportedFormat } from "../upload/imported-format.ts";
import { decodeText } from "./decode-text.ts";

/** The limit of a request that imports a file, in bytes (docs/api.md, Limits). */
const importBytesMax = 8 * 2 ** 20;

/** Why a file was not imported. */
export type ImportProblem =
  | { readonly kind: "FORMAT" }
  | { readonly kind: "TOO_LARGE" }
  | { readonly kind: "UNREADABLE" }
  | { readonly kind: "VIOLATION"; readonly violation: FieldViolation }
  | { readonly kind: "FAILED"; readonly error: unknown };

export type Imported = { readonly name: string } | { readonly problem: ImportProblem };

/**
 * Imports a file as a transcript, and returns its name. A transcript in JSON keeps its own details,
 * except for the title if `subject` is not empty.
 */
export async function importFile(
  file: File,
  { subject, languageCode }: { readonly subject: string; readonly languageCode: string },
): Promise<Imported> {
  const format = importedFormat(file);
  if (format === undefined) return { problem: { kind: "FORMAT" } };
  if (file.size > importBytesMax) return { problem: { kind: "TOO_LARGE" } };
  let content: string;
  try {
    content = decodeText(new Uint8Array(await file.arrayBuffer()));
  } catch {
    // The file was deleted or changed since it was chosen.
    return { problem: { kind: "UNREADABLE" } };
  }
  const metadata = metadataOf(format, { subject, languageCode });
  const body = new Blob([JSON.stringify({ metadata, format, content })]);
  if (body.size > importBytesMax) return { problem: { kind: "TOO_LARGE" } };
  try {
    const path = "/v1alpha1/transcripts:import";
    const { name = "" } = await callApi<CreateTranscriptResponseJson>(path, {
      method: "POST",
      body,
    });
    return { name };
  } catch (error) {
    const violation = error instanceof ApiError ? error.violations[0] : undefined;
    return {
      problem: violation ? { kind: "VIOLATION", violation } : { kind: "FAILED", error },
    };
  }
}

function metadataOf(
  format: ImportedFormat,
  { subject, languageCode }: { readonly subject: string; readonly languageCode: string },
): TranscriptMetadataJson {
  const title = subject.trim();
  if (format === "JSON") return title === "" ? {} : { subject: title };
  return { fileType: "AUDIO", languageCode, subject: title };
}
