import { clone, create, isFieldSet } from "@bufbuild/protobuf";
import {
  TranscriptMetadataSchema,
  TranscriptSchema,
  type TranscriptMetadata,
  type UpdateTranscriptRequest,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { shown, type FieldViolation } from "../std/service-error.ts";

/** The fields of metadata that callers may write; the service sets all others. */
export const callerFields = [
  "fileType",
  "languageCode",
  "subject",
  "description",
  "keywords",
  "additionalMetadata",
  "speakers",
  "dictation",
] as const satisfies readonly (keyof typeof TranscriptMetadataSchema.field)[];

export type CallerField = (typeof callerFields)[number];

/**
 * The changes of an update: the fields of metadata to replace, and either all segments or none.
 */
export interface Patch {
  readonly fields: ReadonlySet<CallerField>;
  readonly segments: boolean;
}

/**
 * Reads an update (§4.6; docs/api.md, Transcripts: Update) from the paths of its mask, in proto or
 * JSON names. If there is no mask, which gRPC clients may omit, the fields that are set are
 * updated. A path that is only `metadata` means the fields of the metadata that are set.
 * Output-only fields that are set in addition to others are skipped, so that a transcript can be
 * sent back as it was read. Returns violations for mask paths that are unknown or output-only
 * fields, for an update with only output-only fields, and for an empty update.
 */
export function readPatch(
  request: UpdateTranscriptRequest,
  { hasSegments = (request.transcript?.segments.length ?? 0) > 0 } = {},
): Patch | FieldViolation[] {
  const transcript = request.transcript ?? create(TranscriptSchema);
  const paths = request.updateMask?.paths ?? [];
  const fields = new Set<CallerField>();
  let segments = false;
  let hasMetadata = false;
  const violations: FieldViolation[] = [];
  for (const path of paths.length > 0 ? paths : ["metadata", "segments"]) {
    const target = targetOf(path);
    if (target === undefined) {
      violations.push({
        field: "updateMask",
        description: `${shown(path)} is not a field that can be updated`,
      });
    } else if (target === "segments") {
      segments ||= paths.length > 0 || hasSegments;
    } else if (target === "metadata") {
      hasMetadata ||= transcript.metadata !== undefined;
      for (const field of setFields(transcript.metadata)) fields.add(field);
    } else if (target === "output only") {
      violations.push({ field: "updateMask", description: `${shown(path)} ${isSetByService}` });
    } else {
      hasMetadata = true;
      fields.add(target);
    }
  }
  if (fields.size === 0 && !segments) {
    for (const name of outputOnlyIn(transcript.metadata)) {
      violations.push({ field: `metadata.${name}`, description: isSetByService });
    }
  }
  if (violations.length > 0) return violations;
  if (fields.size === 0 && !segments) return hasMetadata ? [nothingSet] : nothingSent;
  return { fields, segments };
}

/**
 * Returns `current` with these fields copied from `from`; lists and maps are replaced as a whole.
 */
export function mergeMetadata(
  current: TranscriptMetadata,
  from: TranscriptMetadata | undefined,
  fields: Iterable<CallerField>,
): TranscriptMetadata {
  const merged = clone(TranscriptMetadataSchema, current);
  const source = clone(TranscriptMetadataSchema, from ?? create(TranscriptMetadataSchema));
  for (const field of fields) {
    if (field === "dictation") mergeDictation(merged, source);
    else Object.assign(merged, { [field]: source[field] });
  }
  return merged;
}

/** Only the service sets and replaces the other original sources, a file name and a URL. */
function mergeDictation(merged: TranscriptMetadata, { originalSource }: TranscriptMetadata): void {
  const current = merged.originalSource.case;
  if (current !== undefined && current !== "dictation") return;
  merged.originalSource =
    originalSource.case === "dictation" ? originalSource : { case: undefined };
}

/** Finds the violation of an update that calls a recording from a file or a URL a dictation. */
export function* checkDictation(
  { originalSource: current }: TranscriptMetadata,
  { originalSource: sent }: TranscriptMetadata,
): Generator<FieldViolation> {
  if (sent.case !== "dictation" || !sent.value) return;
  if (current.case === undefined || current.case === "dictation") return;
  const description = `cannot be true: the transcript has the original source ${current.case}`;
  yield { field: "metadata.dictation", description };
}

/** Returns the fields that callers may write and that are set. */
export function setFields(metadata: TranscriptMetadata | undefined): CallerField[] {
  if (!metadata) return [];
  return callerFields.filter((field) =>
    isFieldSet(metadata, TranscriptMetadataSchema.field[field]),
  );
}

const nothingSet = {
  field: "metadata",
  description: "sets no field: to clear one, name it in updateMask",
};
const nothingSent = ["metadata", "segments"].map((field) => ({
  field,
  description: "metadata or segments is required",
}));
const isSetByService = "is set by the service and cannot be updated";

function outputOnlyIn(metadata: TranscriptMetadata | undefined): string[] {
  if (!metadata) return [];
  return TranscriptMetadataSchema.fields
    .filter((field) => !callerFields.some((name) => name === field.localName))
    .filter((field) => isFieldSet(metadata, field))
    .map(({ jsonName }) => jsonName);
}

/** Returns the field that a path of a mask refers to, or undefined if there is no such field. */
function targetOf(path: string): CallerField | "metadata" | "segments" | "output only" | undefined {
  const [top, name, ...deeper] = path.split(".");
  if (top === "name" || top === "uri" || top === "version") return "output only";
  if (name === undefined) return top === "metadata" || top === "segments" ? top : undefined;
  if (top !== "metadata") return undefined;
  const field = TranscriptMetadataSchema.fields.find(
    (field) => field.name === name || field.jsonName === name,
  );
  if (!field) return undefined;
  const mine = callerFields.find((caller) => caller === field.localName);
  if (mine === undefined) return "output only";
  return deeper.length === 0 ? mine : undefined;
}
