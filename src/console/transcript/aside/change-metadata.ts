import type {
  TranscriptJson,
  TranscriptMetadataJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../../api/api-error.ts";
import { callApi } from "../../api/call-api.ts";

/**
 * What a page may change of a transcript's metadata: values as they were when the user began, and
 * as they are to be.
 */
export interface MetadataEdit {
  readonly subject?: Edit<string>;
  readonly description?: Edit<string>;
  readonly keywords?: Edit<readonly string[]>;
  /** By the ids of speakers; "" is no name. */
  readonly speakers?: Readonly<Record<string, Edit<string>>>;
}

export interface Edit<Value> {
  readonly from: Value;
  readonly to: Value;
}

/** What the user changes was changed elsewhere since they began. */
export class ChangedElsewhere extends Error {
  override readonly name = "ChangedElsewhere";
  /** The transcript as it is now. */
  readonly current: TranscriptJson;

  constructor(current: TranscriptJson) {
    super("the same was changed elsewhere");
    this.current = current;
  }
}

/** Others may change a transcript at the same moment, but not again and again. */
const triesMax = 4;

/**
 * Makes a version with the edit, on top of whatever else was changed since `seen`. Answers the
 * transcript with it; throws ChangedElsewhere where others have changed the same, ApiError else.
 * What is so already makes no version.
 */
export async function changeMetadata(
  name: string,
  seen: TranscriptJson,
  edit: MetadataEdit,
): Promise<TranscriptJson> {
  let current = seen;
  for (let tries = 1; ; tries += 1) {
    try {
      const changed = await patch(name, current, edit);
      return sameSegments(current, changed);
    } catch (error) {
      const isStale = error instanceof ApiError && error.reason === "VERSION_STALE";
      if (!isStale || tries === triesMax) throw error;
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

/** The segments that the page has already, where they are the same: nothing is shown anew. */
function sameSegments(before: TranscriptJson, changed: TranscriptJson): TranscriptJson {
  const isNext = changed.version?.parent === before.version?.name;
  return isNext && before.segments ? { ...changed, segments: before.segments } : changed;
}

/** The fields that an edit changes, as they are to be; maps whole, as the service takes them. */
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
    else named.set(id, { name: to });
  }
  return Object.fromEntries(named);
}

/** Each value of an edit beside the one that is there now. */
function compared(metadata: TranscriptMetadataJson, edit: MetadataEdit) {
  const { subject = "", description = "", keywords = [], speakers = {} } = metadata;
  return [
    edit.subject && { ...edit.subject, now: subject },
    edit.description && { ...edit.description, now: description },
    edit.keywords && { ...textOf(edit.keywords), now: JSON.stringify(keywords) },
    ...Object.entries(edit.speakers ?? {}).map(([id, names]) => ({
      ...names,
      now: speakers[id]?.name ?? "",
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
