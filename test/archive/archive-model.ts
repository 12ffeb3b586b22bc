// A model of an archive of transcripts, as plain data. The service is compared with the model,
// command by command.

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

export interface Speaker {
  readonly fullName: string;
  readonly ageGroup: string;
  readonly gender: string;
}

/** The fields of metadata that a caller can write. */
export interface Metadata {
  readonly fileType: string;
  readonly languageCode: string;
  readonly subject: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly additionalMetadata: Readonly<Record<string, string>>;
  readonly speakers: Readonly<Record<string, Speaker>>;
  /** Absent until it is set. */
  readonly dictation?: boolean;
}

export interface Content {
  readonly metadata: Metadata;
  readonly segments: readonly Segment[];
}

/**
 * The body of a PATCH, with only the fields that are present; null has the same meaning as in JSON.
 */
export interface PatchBody {
  readonly metadata?: { readonly [Field in keyof Metadata]?: Metadata[Field] | null };
  readonly segments?: readonly Segment[];
}

/** A version as answers have it. It never changes after it was returned. */
export interface ListedVersion {
  readonly name: string;
  readonly parent: string;
  readonly creationTime: string;
  readonly kind: string;
  readonly author: string;
  readonly authorName: string;
  readonly note: string;
}

export interface ModelVersion extends Content, ListedVersion {}

/** Returns what answers say of a version. */
export function listedOf(version: ListedVersion): ListedVersion {
  const { name, parent, creationTime, kind, author, authorName, note } = version;
  return { name, parent, creationTime, kind, author, authorName, note };
}

export interface ModelTranscript {
  readonly name: string;
  /** The versions, oldest first; the last one is the head. */
  readonly versions: ModelVersion[];
  media: Buffer | undefined;
  /** Signed URLs of the media so far. URLs of deleted media return 404. */
  readonly pastMedia: string[];
  /** The upload URLs that the service has returned. */
  readonly uploads: { readonly target: string; isOpen: boolean }[];
  isDeleted: boolean;
}

/** The archive of one account. */
export interface ArchiveModel {
  /** The transcripts, in the order of their creation. */
  readonly transcripts: ModelTranscript[];
  /** A counter that makes the bytes of every upload different. */
  uploadCount: number;
}

const emptyMetadata: Metadata = {
  fileType: "TYPE_UNSPECIFIED",
  languageCode: "",
  subject: "",
  description: "",
  keywords: [],
  additionalMetadata: {},
  speakers: {},
};

/** Returns the content of a transcript as it was created. */
export function createdFrom({ metadata = {}, segments = [] }: PatchBody): Content {
  return { metadata: merged(emptyMetadata, metadata, fieldsOf(metadata)), segments };
}

/**
 * Returns the content after the fields in the body, or those in the mask, were replaced
 * (docs/api.md, Transcripts, Update), or undefined if the update is refused.
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

/** Returns the fields that are set. null means unset (docs/api.md, JSON). */
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
  for (const field of fields) {
    const value = values.get(field) ?? unset.get(field);
    if (value === undefined) next.delete(field);
    else next.set(field, value);
  }
  return { ...emptyMetadata, ...Object.fromEntries(next) };
}

export function headOf({ versions }: ModelTranscript): ModelVersion {
  const head = versions.at(-1);
  if (!head) throw new Error("a transcript has a version");
  return head;
}

/**
 * Returns a transcript in one of its versions, in the JSON that the service returns, without its
 * uri.
 */
export function answerOf({ name }: ModelTranscript, version: ModelVersion) {
  return {
    name,
    metadata: {
      ...version.metadata,
      recordingDuration: null,
      waveformUri: "",
      dataSource: "USER",
      originalCharLength: 0,
      originalByteLength: 0,
    },
    segments: version.segments,
    version: listedOf(version),
  };
}

/** The order of a list. Media in this model has no known duration. */
export interface Ordering {
  readonly orderBy: "" | "subject" | "metadata.recording_duration" | "version.creation_time";
  readonly isAscending: boolean;
}

/** Returns the transcripts that are not deleted. */
export function existing({ transcripts }: ArchiveModel): ModelTranscript[] {
  return transcripts.filter(({ isDeleted }) => !isDeleted);
}

const icelandic = new Intl.Collator("is", { sensitivity: "base" });

/**
 * Compares two transcripts by an ordering (docs/api.md, Transcripts), ascending. Transcripts of the
 * same millisecond are equal: their order is exact to the microsecond.
 */
export function compared(
  { orderBy }: Ordering,
  one: ModelTranscript,
  other: ModelTranscript,
): number {
  const [a, b] = [headOf(one), headOf(other)];
  const byName = one.name < other.name ? -1 : 1;
  if (orderBy === "subject") {
    return icelandic.compare(a.metadata.subject, b.metadata.subject) || byName;
  }
  if (orderBy === "metadata.recording_duration") return byName;
  return Date.parse(a.creationTime) - Date.parse(b.creationTime);
}

/**
 * Whether a subject contains a text, using Unicode's simple case folding as regular expressions do.
 */
export function hasSubject(transcript: ModelTranscript, text: string): boolean {
  const { subject } = headOf(transcript).metadata;
  return new RegExp(RegExp.escape(text.normalize("NFC")), "iu").test(subject.normalize("NFC"));
}

export function hasKeyword(transcript: ModelTranscript, keyword: string): boolean {
  return headOf(transcript).metadata.keywords.includes(keyword);
}
