import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ExportFormat as Format,
  ExportFormatSchema,
  SpeakerInfoSchema,
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadataSchema,
  type TranscriptMetadata,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { isId } from "../std/ids.ts";
import { invalidArgument, type FieldViolation } from "../std/service-error.ts";
import { linksOf } from "./answer-transcript.ts";
import { checkMetadataSize, checkTranscript, throwViolations } from "./check-transcript.ts";
import { attachmentHeader, fileNameOf } from "./file-name.ts";
import { callerFields, mergeMetadata } from "./merge.ts";
import { readFile } from "./read-file.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound, versionNotFound } from "./resource-names.ts";
import { runInWorkerThread } from "./worker-threads.ts";
import { subtitleFormats, type SubtitleFormat } from "./subtitles/read-subtitles.ts";
import { transcriptJson } from "./transcript-json.ts";
import { recordingMsOf } from "./transcript-message.ts";
import type { StoredTranscript } from "./transcript-store.ts";
import { insertTranscript } from "./insert-transcript.ts";
import { writeFile } from "./write-file.ts";

/** Returns the methods that export and import transcripts as files. */
export function fileMethods(
  read: ReadTranscript,
  {
    db,
    urls,
    answers,
    now = Date.now,
  }: {
    readonly db: Kysely<Tables>;
    readonly urls: SignedUrls;
    readonly answers: HeldBytes;
    readonly now?: () => number;
  },
) {
  /**
   * Writes the JSON. Its bytes are counted while they are generated. After that, the server counts
   * the bytes that it sends.
   */
  const writeJson = async (accountId: string, stored: StoredTranscript) => {
    using _held = answers.hold(accountId, 2 * stored.segments.jsonBytes);
    return await transcriptJson(stored, linksOf({ urls }, stored));
  };
  return {
    async exportTranscript({ name, format, version }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      if (version !== "" && !isId(version)) throw versionNotFound(`${name}/versions/${version}`);
      const file = formats[format];
      const stored = await read(context, id, {
        ...(version !== "" && { versionId: version }),
        heldPerByte: file?.format === "JSON" ? 2 : 1,
      });
      if (!stored) {
        throw version === ""
          ? transcriptNotFound(name)
          : versionNotFound(`${name}/versions/${version}`);
      }
      if (!file) throw invalidArgument([unknownFormat(format, Object.keys(endings))]);
      const data =
        file.format === "JSON"
          ? await writeJson(accountId, stored)
          : await runInWorkerThread(writeFile, contentOf(stored, file.format), {
              bytes: stored.segments.jsonBytes,
              accountId,
              transfer: [stored.segments.jsonZstd],
              signal: context.signal,
            });
      const fileName = fileNameOf(stored.metadata.subject, endings[file.format]);
      context.responseHeader.set("content-disposition", attachmentHeader(fileName));
      return { exportedTranscript: { contentType: file.contentType, data } };
    },

    async importTranscript(request, context) {
      const { accountId } = callerOf(context);
      const metadata = mergeMetadata(
        create(TranscriptMetadataSchema),
        request.metadata,
        callerFields,
      );
      throwViolations([
        ...checkTranscript(metadata, callerFields, []),
        ...checkMetadataSize(metadata),
        ...checkFile(request.format, request.content),
      ]);
      const { content } = request;
      const file = { content, format: subtitleFormat(request.format), names: namesOf(metadata) };
      const { signal } = context;
      const bytes = content.length * jsonBytesPerByte;
      const reading = await runInWorkerThread(readFile, file, { bytes, accountId, signal });
      if ("problem" in reading) {
        throw invalidArgument([{ field: "content", description: reading.problem }]);
      }
      for (const [id, name] of reading.names) {
        metadata.speakers[id] ??= create(SpeakerInfoSchema, { fullName: name });
      }
      throwViolations(checkMetadataSize(metadata));
      metadata.dataSource = DataSource.USER;
      const imported = { accountId, metadata, segments: reading.text, now: new Date(now()) };
      const { id } = await db
        .transaction()
        .execute(async (trx) => await insertTranscript(trx, imported));
      return { name: `transcripts/${id}` };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** The number of bytes of segment JSON per byte of subtitles. */
const jsonBytesPerByte = 8;

/** The file extension of each format. */
const endings = { SRT: "srt", VTT: "vtt", TEXT: "txt", JSON: "json" } as const;

interface FileType {
  readonly format: keyof typeof endings;
  readonly contentType: string;
}

const formats: Readonly<Partial<Record<Format, FileType>>> = {
  [Format.SRT]: { format: "SRT", contentType: "application/x-subrip; charset=utf-8" },
  [Format.VTT]: { format: "VTT", contentType: "text/vtt; charset=utf-8" },
  [Format.TEXT]: { format: "TEXT", contentType: "text/plain; charset=utf-8" },
  [Format.JSON]: { format: "JSON", contentType: "application/json" },
};

function contentOf(stored: StoredTranscript, format: "SRT" | "VTT" | "TEXT") {
  const { metadata, segments } = stored;
  const names = new Map([...namesOf(metadata)].filter(([, name]) => name.trim() !== ""));
  const recordingMs = Math.floor(recordingMsOf(stored) ?? NaN);
  return { format, segments, names, recordingMs: isNaN(recordingMs) ? null : recordingMs };
}

function namesOf({ speakers }: TranscriptMetadata): Map<string, string> {
  return new Map(Object.entries(speakers).map(([id, { fullName }]) => [id, fullName]));
}

function subtitleFormat(format: Format): SubtitleFormat | undefined {
  return subtitleFormats.find((name) => Format[name] === format);
}

function* checkFile(format: Format, content: string): Generator<FieldViolation> {
  if (format !== Format.EXPORT_FORMAT_UNSPECIFIED && subtitleFormat(format) === undefined) {
    yield unknownFormat(format, subtitleFormats);
  }
  if (content.trim() === "") {
    yield { field: "content", description: "is required: the text of an SRT or WebVTT file" };
  } else if (!content.isWellFormed()) {
    yield { field: "content", description: "has an unpaired surrogate (invalid Unicode)" };
  }
}

function unknownFormat(format: Format, allowed: readonly string[]): FieldViolation {
  const expected = `${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1) ?? ""} is expected`;
  const isAbsent = format === Format.EXPORT_FORMAT_UNSPECIFIED;
  const got = isAbsent ? "" : `, not ${ExportFormatSchema.value[format]?.name ?? format}`;
  return { field: "format", description: `${expected}${got}` };
}
