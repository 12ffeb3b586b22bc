import type { MessageInitShape } from "@bufbuild/protobuf";
import { UsageError } from "../cli/command.ts";
import type { HlustClient } from "../client/hlust-client.ts";
import {
  ExportFormat,
  type ExportOptionsSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** The formats of exported transcripts, by the end of their file names. */
const formats = {
  txt: ExportFormat.TEXT,
  srt: ExportFormat.SRT,
  vtt: ExportFormat.VTT,
  json: ExportFormat.JSON,
  docx: ExportFormat.DOCX,
  odt: ExportFormat.ODT,
} as const;

export type Format = keyof typeof formats;

export const formatNames = Object.keys(formats).join(", ");

function isFormat(name: string): name is Format {
  return Object.hasOwn(formats, name);
}

/** Returns the format of this name. Throws UsageError. */
export function formatOf(name: string): Format {
  if (isFormat(name)) return name;
  throw new UsageError(`--format must be one of ${formatNames}, not ${JSON.stringify(name)}`);
}

/** Returns the file of a transcript. */
export async function exported(
  hlust: HlustClient,
  name: string,
  format: Format,
  options?: MessageInitShape<typeof ExportOptionsSchema>,
): Promise<Uint8Array> {
  const request = { name, format: formats[format], ...(options && { options }) };
  const { exportedTranscript } = await hlust.transcripts.exportTranscript(request);
  return exportedTranscript?.data ?? new Uint8Array();
}
