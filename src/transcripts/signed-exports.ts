import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { exportsPath } from "../media/media-records.ts";
import { expiryOf, type SignedUrls } from "../media/signed-url.ts";
import { timestampFromDate } from "../std/duration.ts";
import { isId } from "../std/ids.ts";
import { invalidArgument } from "../std/service-error.ts";
import { throwViolations } from "./check-values.ts";
import { heldPerByteOf, recordingMsIn, writeStored } from "./export-file.ts";
import { fileTypes, formatOf, unknownFormat, writtenFormats } from "./export-formats.ts";
import { checkOptions, fileOptionsOf, optionsFromText, optionsText } from "./export-options.ts";
import { attachmentHeader, fileNameOf } from "./file-name.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound, versionNotFound } from "./resource-names.ts";

/** The method that signs URLs of exported files, for web pages. */
export function signedExportMethods({
  db,
  urls,
}: {
  readonly db: Kysely<Tables>;
  readonly urls: SignedUrls;
}) {
  return {
    async signTranscriptExport({ name, format, version, options }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      const versionName = `${name}/versions/${version}`;
      if (version !== "" && !isId(version)) throw versionNotFound(versionName);
      const versionId = await findVersionId(db, { accountId, id, version });
      if (versionId === undefined) {
        throw version === "" ? transcriptNotFound(name) : versionNotFound(versionName);
      }
      const file = formatOf(format, writtenFormats);
      if (file === undefined) throw invalidArgument([unknownFormat(format, writtenFormats)]);
      throwViolations([...checkOptions(file, options)]);
      const chosen = fileOptionsOf(file, options);
      const last = chosen ? `${file}.${optionsText(chosen)}` : file;
      const uri = urls.sign({ method: "GET", path: `${exportsPath}${id}/${versionId}/${last}` });
      return { uri, expireTime: timestampFromDate(expiryOf(uri)) };
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** Finds a version of an account's transcript: the current one if `version` is empty. */
async function findVersionId(
  db: Kysely<Tables>,
  {
    accountId,
    id,
    version,
  }: { readonly accountId: string; readonly id: string; readonly version: string },
): Promise<string | undefined> {
  const versions = db
    .selectFrom("transcript as t")
    .innerJoin("transcript_version as v", "v.transcript_id", "t.id")
    .where("t.account_id", "=", accountId)
    .where("t.id", "=", id)
    .select("v.id");
  const row = await (
    version === ""
      ? versions.whereRef("v.id", "=", "t.version_id")
      : versions.where("v.id", "=", version)
  ).executeTakeFirst();
  return row?.id;
}

/** An exported file that is not written yet. */
export interface OpenedExport {
  /** The account of the transcript. */
  readonly accountId: string;
  /** The entity tag of the file. */
  readonly etag: string;
  readonly contentType: string;
  /** The Content-Disposition header, with the name of the file. */
  readonly disposition: string;
  write(): Promise<Uint8Array>;
}

/**
 * Returns a function that opens the exported file at a signed path, and returns undefined if the
 * transcript or its account was deleted. Throws resource_exhausted as ExportTranscript does.
 */
export function createOpenExport({
  db,
  read,
}: {
  readonly db: Kysely<Tables>;
  readonly read: ReadTranscript;
}) {
  return async (path: string, signal: AbortSignal): Promise<OpenedExport | undefined> => {
    const [id = "", versionId = "", file = ""] = path.slice(exportsPath.length).split("/");
    const [name, chosen] = file.split(".");
    const format = writtenFormats.find((each) => each === name);
    const options = chosen === undefined ? undefined : optionsFromText(chosen);
    if (!isId(id) || !isId(versionId) || format === undefined) return undefined;
    const row = await db
      .selectFrom("transcript")
      .where("id", "=", id)
      .select("account_id")
      .executeTakeFirst();
    if (!row?.account_id) return undefined;
    const reader = { accountId: row.account_id, signal };
    const stored = await read(reader, id, { versionId, heldPerByte: heldPerByteOf[format] });
    if (!stored) return undefined;
    const { contentType, ending } = fileTypes[format];
    return {
      accountId: row.account_id,
      // The length of the recording is not part of the version, and ends the last subtitle.
      etag: `"${versionId}-${file}-${recordingMsIn(stored) ?? ""}"`,
      contentType,
      disposition: attachmentHeader(fileNameOf(stored.metadata.subject, ending)),
      write: async () => await writeStored(stored, { format, options, ...reader }),
    };
  };
}
