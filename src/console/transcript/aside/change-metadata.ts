import type {
  TranscriptJson,
  TranscriptMetadataJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";

/** An edit of a transcript's metadata: the values when the user began, and the new values. */
export interface MetadataEdit {
  readonly subject?: Edit<string>;
  readonly description?: Edit<string>;
  readonly keywords?: Edit<readonly string[]>;
  /** The names by speaker id; "" means no name. */
  readonly speakers?: Readonly<Record<string, Edit<string>>>;
}

export interface Edit<Value> {
  readonly from: Value;
  readonly to: Value;
}

/** Thrown if the same fields have been changed elsewhere since the user began. */
export class ChangedElsewhere extends Error {
  override readonly name = "ChangedElsewhere";
  /** The current state of the transcript. */
  readonly current: TranscriptJson;

  constructor(current: TranscriptJson) {
    super("the same fields were changed elsewhere");
    this.current = current;
  }
}

/**
 * The maximum number of attempts. Others may change a transcript at the same moment, but hardly
 * several times in a row.
 */
const attemptsMax = 4;

/**
 * Creates a version with the edit, on top of all other changes since `seen`, and returns the
 * transcript. Throws ChangedElsewhere if others have changed the same fields, or else ApiError. If
 * the fields already have the new values, no version is created.
 */
export async function changeMetadata(
  name: string,
  seen: TranscriptJson,
  edit: MetadataEdit,
): Promise<TranscriptJson> {
  let current = seen;
  for (let attempts = 1; ; attempts += 1) {
    try {
      const changed = await patch(name, current, edit);
      return withSameSegments(current, changed);
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "VERSION_STALE";
      if (!isStale || attempts === attemptsMax) throw error;
    }
    current = await callApi<TranscriptJson>(`/v1alpha1/${name}`);
    const metadata = current.metadata ?? {};
    if (isDone(metadata, edit)) return current;
    if (clashes(metadata, edit)) throw new ChangedElsewhere(current);
  }
}

async function patch(
  name: string,
  { metadata, version }: TranscriptJson,
  edit: MetadataEdit,
): Promise<TranscriptJson> {
  const body = edited(metadata ?? {}, edit);
  const mask = Object.keys(body).map((field) => `metadata.${field}`);
  return await callApi<TranscriptJson>(`/v1alpha1/${name}?updateMask=${mask.join(",")}`, {
    method: "PATCH",
    body: { metadata: body },
    ...(version?.name !== undefined && { headers: { "if-match": version.name } }),
  });
}

/** Reuses the page's segments if they have not changed, so that they are not rendered again. */
function withSameSegments(before: TranscriptJson, changed: TranscriptJson): TranscriptJson {
  const isNext = changed.version?.parent === before.version?.name;
  return isNext && before.segments ? { ...changed, segments: before.segments } : changed;
}

/** Returns the new values of the fields in an edit. Maps are complete, as the service requires. */
export function edited(
  metadata: TranscriptMetadataJson,
  { subject, description, keywords, speakers }: MetadataEdit,
): TranscriptMetadataJson {
  return {
    ...(subject && { subject: subject.to }),
    ...(description && { description: description.to }),
    ...(keywords && { keywords: [...keywords.to] }),
    ...(speakers && { speakers: namedSpeakers(metadata.speakers ?? {}, speakers) }),
  };
}

type Speakers = NonNullable<TranscriptMetadataJson["speakers"]>;

function namedSpeakers(
  speakers: Speakers,
  edits: Readonly<Record<string, Edit<string>>>,
): Speakers {
  const named = new Map(Object.entries(speakers));
  for (const [id, { to }] of Object.entries(edits)) {
    if (to === "") named.delete(id);
    else named.set(id, { ...named.get(id), fullName: to });
  }
  return Object.fromEntries(named);
}

/** Returns each value in an edit, with the current value of its field. */
function compared(metadata: TranscriptMetadataJson, edit: MetadataEdit) {
  const { subject = "", description = "", keywords = [], speakers = {} } = metadata;
  return [
    edit.subject && { ...edit.subject, now: subject },
    edit.description && { ...edit.description, now: description },
    edit.keywords && { ...textOf(edit.keywords), now: JSON.stringify(keywords) },
    ...Object.entries(edit.speakers ?? {}).map(([id, names]) => ({
      ...names,
      now: speakers[id]?.fullName ?? "",
    })),
  ].filter((value) => value !== undefined);
}

function textOf({ from, to }: Edit<readonly string[]>): Edit<string> {
  return { from: JSON.stringify(from), to: JSON.stringify(to) };
}

function isDone(metadata: TranscriptMetadataJson, edit: MetadataEdit): boolean {
  return compared(metadata, edit).every(({ to, now }) => now === to);
}

function clashes(metadata: TranscriptMetadataJson, edit: MetadataEdit): boolean {
  return compared(metadata, edit).some(({ from, to, now }) => now !== from && now !== to);
}
