import type { TranscriptMetadata } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { linksOf } from "./answer-transcript.ts";
import { folded } from "./document/paragraphs.ts";
import type { FileFormat, WrittenFormat } from "./export-formats.ts";
import { type ChosenOptions, defaultOptionsOf } from "./export-options.ts";
import { transcriptJson } from "./transcript-json.ts";
import { recordingMsOf } from "./transcript-message.ts";
import type { StoredTranscript } from "./transcript-store.ts";
import { runInWorkerThread } from "./worker-threads.ts";
import { fileBytesMax, writeFile } from "./write-file.ts";

/** The memory for the file, in bytes per byte of the transcript's JSON. */
export const heldPerByteOf: Readonly<Record<FileFormat, number>> = {
  VTT_PAINT_ON: 3,
  VTT_POP_ON: 1,
  SRT: 1,
  AUDACITY_LABELS: 1,
  VTT: 1,
  TEXT: 1,
  DOCX: 1,
  ODT: 1,
  JSON: 2,
};

/** Writes a stored transcript as a file for an account. Throws EXPORT_TOO_LARGE. */
export async function exportFile(
  parts: { readonly urls: SignedUrls; readonly answers: HeldBytes },
  stored: StoredTranscript,
  { format, options, ...caller }: CallerOfFile & WantedFile<FileFormat>,
): Promise<Uint8Array> {
  return format === "JSON"
    ? await writeJson(parts, stored, caller.accountId)
    : await writeStored(stored, { ...caller, format, options });
}

/** What a file shall be. */
interface WantedFile<Format extends FileFormat> {
  readonly format: Format;
  /** The options of the format. Default: those of a request without options. */
  readonly options?: ChosenOptions | undefined;
}

/** The account that a file is for, and the end of its call. */
interface CallerOfFile {
  readonly accountId: string;
  readonly signal: AbortSignal;
}

/**
 * Writes the JSON. Its bytes are counted while they are generated. After that, the server counts
 * the bytes that it sends.
 */
async function writeJson(
  { urls, answers }: { readonly urls: SignedUrls; readonly answers: HeldBytes },
  stored: StoredTranscript,
  accountId: string,
): Promise<Uint8Array> {
  using _held = answers.hold(accountId, 2 * stored.segments.jsonBytes);
  return await transcriptJson(stored, linksOf({ urls }, stored));
}

/** Writes the words of a stored transcript as a file. Throws EXPORT_TOO_LARGE. */
export async function writeStored(
  stored: StoredTranscript,
  {
    format,
    options = defaultOptionsOf(format),
    accountId,
    signal,
  }: CallerOfFile & WantedFile<WrittenFormat>,
): Promise<Uint8Array> {
  const { metadata, segments } = stored;
  const names = new Map([...namesOf(metadata)].filter(([, name]) => name.trim() !== ""));
  const recordingMs = recordingMsIn(stored);
  const { subject, languageCode } = metadata;
  const title = folded(subject);
  const content = { format, segments, names, recordingMs, title, languageCode, options };
  const data = await runInWorkerThread(writeFile, content, {
    bytes: segments.jsonBytes,
    accountId,
    transfer: [segments.jsonZstd],
    signal,
  });
  if (data) return data;
  const problem = `the file in the format ${format} would be longer than ${fileBytesMax} bytes: VTT is shorter`;
  throw new ServiceError("failed_precondition", problem, { reason: "EXPORT_TOO_LARGE" });
}

/** Returns the length of the recording in whole milliseconds; null if unknown. */
export function recordingMsIn(stored: StoredTranscript): number | null {
  const ms = Math.floor(recordingMsOf(stored) ?? NaN);
  return isNaN(ms) ? null : ms;
}

/** Returns the names of speakers by id, including empty names. */
export function namesOf({ speakers }: TranscriptMetadata): Map<string, string> {
  return new Map(Object.entries(speakers).map(([id, { fullName }]) => [id, fullName]));
}
