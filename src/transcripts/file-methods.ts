import { create, fromJson } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  type ImportTranscriptRequest,
  SpeakerInfoSchema,
  TranscriptMetadata_DataSource as DataSource,
  type TranscriptMetadata,
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
import { importFormatOf, importFormats } from "./import-formats.ts";
import { callerFields, mergeMetadata, setFields, type CallerField } from "./merge.ts";
import { readFile, type FileReading } from "./read-file.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound, versionNotFound } from "./resource-names.ts";
import { runInWorkerThread } from "./worker-threads.ts";
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
      const sent = request.metadata ?? create(TranscriptMetadataSchema);
      const { content } = request;
      const format = importFormatOf(request);
      // A transcript as JSON has its own metadata, of which the request replaces fields.
      const fields = format === "JSON" ? setFields(sent) : callerFields;
      const given = mergeMetadata(create(TranscriptMetadataSchema), sent, fields);
      throwViolations([
        ...checkTranscript(given, fields, []),
        ...checkMetadataSize(given),
        ...checkFile(request),
      ]);
      if (format === undefined)
        throw invalidArgument([unknownFormat(request.format, importFormats)]);
      const file = { content, format, names: namesOf(given) };
      const { signal } = context;
      const bytes = content.length * jsonBytesPerByte;
      const reading = await runInWorkerThread(readFile, file, { bytes, accountId, signal });
      if ("problem" in reading) {
        throw invalidArgument([{ field: "content", description: reading.problem }]);
      }
      const metadata = metadataOf(reading, given, fields);
      // The request's own metadata has been checked, so what is wrong is in the file.
      throwViolations(
        Iterator.from(checkTranscript(metadata, callerFields, [])).map(
          ({ field, description }) => ({
            field: "content",
            description: `${field}: ${description}`,
          }),
        ),
      );
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

/** Returns the metadata of a file that was read, with the fields and the names that are given. */
function metadataOf(
  reading: Exclude<FileReading, { problem: string }>,
  given: TranscriptMetadata,
  fields: readonly CallerField[],
): TranscriptMetadata {
  const own = fromJson(TranscriptMetadataSchema, reading.metadata ?? {});
  const metadata = mergeMetadata(own, given, fields);
  for (const [id, name] of reading.names) {
    metadata.speakers[id] ??= create(SpeakerInfoSchema, { fullName: name });
  }
  return metadata;
}

/** The number of bytes of segment JSON per byte of a file. */
const jsonBytesPerByte = 8;

function* checkFile({
  format,
  content,
}: Pick<ImportTranscriptRequest, "format" | "content">): Generator<FieldViolation> {
  if (importFormatOf({ format, content }) === undefined) yield unknownFormat(format, importFormats);
  if (content.trim() === "") {
    yield { field: "content", description: "is required: the text of the file" };
  } else if (!content.isWellFormed()) {
    yield { field: "content", description: "has an unpaired surrogate (invalid Unicode)" };
  }
}
