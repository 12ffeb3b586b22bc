import { create, toJson } from "@bufbuild/protobuf";
import {
  TranscriptMetadataSchema,
  TranscriptSchema,
  type TranscriptMetadataJson,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { parseJson } from "../transcoding/json-text.ts";
import { readJsonLoosely } from "../transcoding/read-json.ts";
import { checkMetadataSize } from "./check-metadata.ts";
import { checkSegments } from "./check-segments.ts";
import { lineInJson } from "./line-in-json.ts";
import { callerFields, mergeMetadata } from "./merge.ts";
import { plainSegments } from "./read-plain-segments.ts";
import type { PlainSegment } from "./segments.ts";
import { UnreadableFile } from "./subtitles/read-cue.ts";

/** A transcript in a file. */
export interface JsonFile {
  readonly segments: readonly PlainSegment[];
  /** The fields that callers may write. */
  readonly metadata: TranscriptMetadataJson;
}

/**
 * Reads the JSON of a transcript, as GetTranscript and exports return it; unknown fields are
 * ignored. Throws UnreadableFile with the line and the field of the first problem.
 */
export function readJsonFile(content: string): JsonFile {
  const text = content.replace(/^\ufeff/, "");
  try {
    const json = parseJson(text);
    const { segments: list, metadata: given } = membersOf(json);
    if (list === undefined) {
      throw new UnreadableFile(1, "segments is required: the JSON of a transcript is expected");
    }
    const metadata = metadataOf(given);
    const segments =
      plainSegments(list) ?? readJsonLoosely(TranscriptSchema, Buffer.from(text)).segments;
    for (const { field, description } of [
      ...checkMetadataSize(metadata),
      ...checkSegments(segments).take(1),
    ]) {
      throw problemAt(text, field, description);
    }
    return { segments, metadata: toJson(TranscriptMetadataSchema, metadata) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw unreadable(text, error);
  }
}

function membersOf(json: unknown): { readonly segments?: unknown; readonly metadata?: unknown } {
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
}

/** Reads the fields of metadata that callers may write. Throws ServiceError. */
function metadataOf(given: unknown) {
  const json = Buffer.from(JSON.stringify({ metadata: given ?? {} }));
  const { metadata } = readJsonLoosely(TranscriptSchema, json);
  return mergeMetadata(create(TranscriptMetadataSchema), metadata, callerFields);
}

function unreadable(text: string, { message, violations }: ServiceError): UnreadableFile {
  const [first] = violations;
  if (first) return problemAt(text, first.field, first.description);
  const [, line, problem] = /^not valid JSON at line (\d+), (.*)$/s.exec(message) ?? [];
  return new UnreadableFile(
    Number(line ?? 1),
    problem === undefined ? message : `not valid JSON at ${problem}`,
  );
}

function problemAt(text: string, field: string, description: string): UnreadableFile {
  return new UnreadableFile(lineInJson(text, field), `${field} ${description}`);
}
