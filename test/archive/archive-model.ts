// What an archive of transcripts is, as plain data: what the service is held against, command by
// command.

export interface Word {
  readonly startTime: string;
  readonly endTime: string;
  readonly word: string;
}

export interface Segment {
  readonly startTime: string;
  readonly endTime: string;
  readonly words: readonly Word[];
  readonly speakerId: string;
}

/** The fields of metadata that are a caller's to write. */
export interface Metadata {
  readonly fileType: string;
  readonly languageCode: string;
  readonly subject: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly additionalMetadata: Readonly<Record<string, string>>;
  readonly speakers: Readonly<Record<string, { readonly name: string }>>;
  readonly dictation: boolean;
}

export interface Content {
  readonly metadata: Metadata;
  readonly segments: readonly Segment[];
}

/** Of a body: what is there; null as JSON has it. */
export interface PatchBody {
  readonly metadata?: { readonly [Field in keyof Metadata]?: Metadata[Field] | null };
  readonly segments?: readonly Segment[];
}

/** Never changes once it was answered. */
export interface ModelVersion extends Content {
  readonly name: string;
  readonly parent: string;
  readonly creationTime: string;
}

export interface ModelTranscript {
  readonly name: string;
  /** Oldest first; the last one is the head. */
  readonly versions: ModelVersion[];
  media: Buffer | undefined;
  /** Signed targets: those of deleted media answer 404. */
  readonly pastMedia: string[];
  /** Upload targets that were answered. */
  readonly uploads: { readonly target: string; isOpen: boolean }[];
  isDeleted: boolean;
}

/** One account. */
export interface ArchiveModel {
  /** In the order of their creation. */
  readonly transcripts: ModelTranscript[];
  /** Makes the bytes of every upload different. */
  uploadCount: number;
}

export const emptyMetadata: Metadata = {
  fileType: "FILE_TYPE_UNSPECIFIED",
  languageCode: "",
  subject: "",
  description: "",
  keywords: [],
  additionalMetadata: {},
  speakers: {},
  dictation: false,
};

/** A transcript as it was created. */
export function createdFrom({ metadata = {}, segments = [] }: PatchBody): Content {
  return { metadata: merged(emptyMetadata, metadata, fieldsOf(metadata)), segments };
}

/**
 * docs/api.md, Transcripts, Update: the fields of the body, or of the mask, are replaced.
 * undefined: it is refused.
 */
export function patched(
  { metadata, segments }: Content,
  body: PatchBody,
  mask: readonly string[] | undefined,
): Content | undefined {
  const sent = body.metadata ?? {};
  const fields = mask
    ? mask.flatMap((path) => (path === "segments" ? [] : [camelCase(path)]))
    : fieldsOf(sent);
  const hasSegments = mask ? mask.includes("segments") : body.segments !== undefined;
  if (!mask && !body.metadata && !hasSegments) return undefined;
  const content = {
    metadata: merged(metadata, sent, fields),
    segments: hasSegments ? (body.segments ?? []) : segments,
  };
  const { fileType, languageCode } = content.metadata;
  return fileType === emptyMetadata.fileType || languageCode === "" ? undefined : content;
}

/** docs/api.md, JSON: null is unset. */
function fieldsOf(sent: NonNullable<PatchBody["metadata"]>): string[] {
  return Object.entries(sent).flatMap(([field, value]) => (value === null ? [] : [field]));
}

function camelCase(path: string): string {
  return path
    .slice("metadata.".length)
    .replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function merged(
  current: Metadata,
  sent: NonNullable<PatchBody["metadata"]>,
  fields: readonly string[],
): Metadata {
  const values = new Map<string, unknown>(Object.entries(sent));
  const next = new Map<string, unknown>(Object.entries(current));
  const unset = new Map<string, unknown>(Object.entries(emptyMetadata));
  for (const field of fields) next.set(field, values.get(field) ?? unset.get(field));
  return { ...current, ...Object.fromEntries(next) };
}

export function headOf({ versions }: ModelTranscript): ModelVersion {
  const head = versions.at(-1);
  if (!head) throw new Error("a transcript has a version");
  return head;
}

/** A transcript in JSON as it is answered, in one of its versions; its uri apart. */
export function answerOf({ name }: ModelTranscript, version: ModelVersion) {
  return {
    name,
    metadata: {
      ...version.metadata,
      originalUri: "",
      recordingDuration: null,
      waveformUri: "",
      dataSource: "USER",
      originalCharLength: 0,
      originalByteLength: 0,
    },
    segments: version.segments,
    version: { name: version.name, parent: version.parent, creationTime: version.creationTime },
  };
}

/** §4.3: newest first by creation time, then id. */
export function listed({ transcripts }: ArchiveModel): ModelTranscript[] {
  const createdAt = ({ versions }: ModelTranscript) => Date.parse(versions[0]?.creationTime ?? "");
  return transcripts
    .filter(({ isDeleted }) => !isDeleted)
    .toSorted((a, b) => createdAt(b) - createdAt(a) || (a.name < b.name ? 1 : -1));
}

/** Case by Unicode's simple folding, as regular expressions have it. */
export function hasSubject(transcript: ModelTranscript, text: string): boolean {
  const { subject } = headOf(transcript).metadata;
  return new RegExp(RegExp.escape(text.normalize("NFC")), "iu").test(subject.normalize("NFC"));
}

export function hasKeywords(transcript: ModelTranscript, keywords: readonly string[]): boolean {
  return keywords.every((keyword) => headOf(transcript).metadata.keywords.includes(keyword));
}
