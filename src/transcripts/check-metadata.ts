import { create, toJson, type DescEnum } from "@bufbuild/protobuf";
import {
  SpeakerInfo_AgeGroupSchema,
  SpeakerInfo_GenderSchema,
  TranscriptMetadata_FileType as FileType,
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { canonicalLanguageCode } from "../std/language-code.ts";
import { shown, type FieldViolation } from "../std/service-error.ts";
import { checkCount, checkText } from "./check-values.ts";
import { callerFields, mergeMetadata, type CallerField } from "./merge.ts";
import { transcriptLimits as limits } from "./transcript-limits.ts";

/**
 * Finds violations of the metadata size limit. Metadata that was accepted by an earlier version of
 * the service may be larger, but a change must not make such metadata even larger.
 */
export function* checkMetadataSize(
  metadata: TranscriptMetadata,
  before?: TranscriptMetadata,
): Generator<FieldViolation> {
  const bytes = metadataBytes(metadata);
  if (bytes <= limits.metadataBytes || (before && bytes <= metadataBytes(before))) return;
  const description = `is ${bytes} bytes of JSON; at most ${limits.metadataBytes} are allowed`;
  yield { field: "metadata", description };
}

/** Returns the size in bytes of the JSON of the fields that callers may write. */
function metadataBytes(metadata: TranscriptMetadata): number {
  const own = mergeMetadata(create(TranscriptMetadataSchema), metadata, callerFields);
  // toJsonString() would throw for an unpaired surrogate, which is a separate violation.
  const json = toJson(TranscriptMetadataSchema, own);
  return Buffer.byteLength(JSON.stringify(json));
}

/** Finds violations in these fields, including required fields that are empty. */
export function* checkMetadata(
  metadata: TranscriptMetadata,
  fields: Iterable<CallerField>,
): Generator<FieldViolation> {
  for (const field of fields) {
    for (const violation of checkField(metadata, field)) {
      yield { ...violation, field: `metadata.${violation.field}` };
    }
  }
}

function* checkField(metadata: TranscriptMetadata, field: CallerField): Generator<FieldViolation> {
  switch (field) {
    case "fileType":
      if (metadata.fileType !== FileType.AUDIO && metadata.fileType !== FileType.VIDEO) {
        yield { field, description: "AUDIO or VIDEO is required" };
      }
      return;
    case "languageCode":
      yield* checkLanguageCode(metadata.languageCode);
      return;
    case "subject":
      yield* checkText(field, metadata.subject, limits.subjectChars);
      return;
    case "description":
      yield* checkText(field, metadata.description, limits.descriptionChars);
      return;
    case "keywords":
      yield* checkCount(field, metadata.keywords.length, limits.keywords, "keywords");
      for (const [index, keyword] of metadata.keywords.entries()) {
        yield* checkText(`keywords[${index}]`, keyword, limits.keywordChars);
      }
      return;
    case "additionalMetadata":
      yield* checkAdditionalMetadata(metadata.additionalMetadata);
      return;
    case "speakers":
      yield* checkSpeakers(metadata);
      return;
    case "dictation":
      return;
  }
}

function* checkAdditionalMetadata(
  map: TranscriptMetadata["additionalMetadata"],
): Generator<FieldViolation> {
  const field = "additionalMetadata";
  const entries = Object.entries(map);
  yield* checkCount(field, entries.length, limits.additionalMetadata, "entries");
  for (const [key, value] of entries) {
    const place = `${field}[${shown(key)}]`;
    yield* checkText(`${place} (key)`, key, limits.additionalMetadataKeyChars);
    yield* checkText(place, value, limits.additionalMetadataValueChars);
  }
}

function* checkSpeakers({ speakers }: TranscriptMetadata): Generator<FieldViolation> {
  const entries = Object.entries(speakers);
  yield* checkCount("speakers", entries.length, limits.speakers, "speakers");
  for (const [id, { fullName, ageGroup, gender }] of entries) {
    const place = `speakers[${shown(id)}]`;
    yield* checkText(`${place} (key)`, id, limits.speakerIdChars);
    yield* checkText(`${place}.fullName`, fullName, limits.speakerNameChars);
    yield* checkEnum(`${place}.ageGroup`, SpeakerInfo_AgeGroupSchema, ageGroup);
    yield* checkEnum(`${place}.gender`, SpeakerInfo_GenderSchema, gender);
  }
}

/** Finds the violation of a number that has no name: binary requests may contain any. */
function* checkEnum(
  field: string,
  { values, value }: DescEnum,
  number: number,
): Generator<FieldViolation> {
  if (value[number]) return;
  const names = values.map(({ name }) => name).join(", ");
  yield { field, description: `is ${number}: one of ${names} is expected` };
}

function* checkLanguageCode(code: string): Generator<FieldViolation> {
  const field = "languageCode";
  if (code === "") {
    yield { field, description: "is required, for example is-IS" };
  } else if (code.length > limits.languageCodeChars || canonicalLanguageCode(code) === undefined) {
    yield { field, description: `${shown(code)} is not a BCP 47 language code such as is-IS` };
  }
}
