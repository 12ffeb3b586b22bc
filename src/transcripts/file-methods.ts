import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ExportFormat as Format,
  SpeakerInfoSchema,
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadataSchema,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { isId } from "../std/ids.ts";
import { invalidArgument, type FieldViolation } from "../std/service-error.ts";
import { checkMetadataSize } from "./check-metadata.ts";
import { checkTranscript } from "./check-transcript.ts";
import { throwViolations } from "./check-values.ts";
import { exportFile, heldPerByteOf, namesOf } from "./export-file.ts";
import { exportFormats, fileTypes, formatOf, unknownFormat } from "./export-formats.ts";
import { checkOptions, fileOptionsOf } from "./export-options.ts";
import { attachmentHeader, fileNameOf } from "./file-name.ts";
import { callerFields, mergeMetadata } from "./merge.ts";
import { readFile } from "./read-file.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound, versionNotFound } from "./resource-names.ts";
import { runInWorkerThread } from "./worker-threads.ts";
import { subtitleFormats, type SubtitleFormat } from "./subtitles/read-subtitles.ts";
import { insertTranscript } from "./insert-transcript.ts";

/** Returns the methods that export and import transcripts as files. */
export function fileMethods(
  read: ReadTranscript,
  parts: {
    readonly db: Kysely<Tables>;
    readonly urls: SignedUrls;
    readonly answers: HeldBytes;
    readonly now?: () => number;
  },
) {
  const { db, now = Date.now } = parts;
  return {
    async exportTranscript({ name, format, version, options }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      const versionName = `${name}/versions/${version}`;
      if (version !== "" && !isId(version)) throw versionNotFound(versionName);
      const file = formatOf(format, exportFormats);
      const caller = { accountId, signal: context.signal };
      const stored = await read(caller, id, {
        ...(version !== "" && { versionId: version }),
        heldPerByte: file === undefined ? 1 : heldPerByteOf[file],
      });
      if (!stored) throw version === "" ? transcriptNotFound(name) : versionNotFound(versionName);
      if (file === undefined) throw invalidArgument([unknownFormat(format, exportFormats)]);
      throwViolations([...checkOptions(file, options)]);
      const wanted = { format: file, options: fileOptionsOf(file, options) };
      const data = await exportFile(parts, stored, { ...wanted, ...caller });
      const { contentType, ending } = fileTypes[file];
      const fileName = fileNameOf(stored.metadata.subject, ending);
      context.responseHeader.set("content-disposition", attachmentHeader(fileName));
      return { exportedTranscript: { contentType, data } };
    },

    async importTranscript(request, context) {
      const { accountId, actor } = callerOf(context);
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
      const imported = {
        accountId,
        metadata,
        segments: reading.text,
        kind: "IMPORTED",
        author: actor,
        now: new Date(now()),
      } as const;
      const { id } = await db
        .transaction()
        .execute(async (trx) => await insertTranscript(trx, imported));
      return { name: `transcripts/${id}` };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** The number of bytes of segment JSON per byte of subtitles. */
const jsonBytesPerByte = 8;

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
