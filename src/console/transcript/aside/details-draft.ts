import type { TranscriptMetadataJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MetadataEdit } from "./change-metadata.ts";

/** What is written in the dialog of details. */
export interface DetailsDraft {
  readonly subject: string;
  readonly description: string;
  readonly keywords: readonly string[];
}

/** What the dialog keeps while it is written in. */
export interface WrittenDetails {
  /** What the user saw when they began, or when they were told that it had changed since. */
  readonly before: DetailsDraft;
  readonly draft: DetailsDraft;
  /** A keyword that is not added yet. */
  readonly keyword: string;
}

/** The details as they are. */
export function draftOf(metadata: TranscriptMetadataJson = {}): DetailsDraft {
  const { subject = "", description = "", keywords = [] } = metadata;
  return { subject, description, keywords };
}

/** What a draft changes of what it began with; undefined where that is nothing. */
export function editOf(before: DetailsDraft, draft: DetailsDraft): MetadataEdit | undefined {
  const subject = draft.subject.trim();
  const description = draft.description.trim();
  const { keywords } = draft;
  const edit: MetadataEdit = {
    ...(subject !== before.subject && { subject: { from: before.subject, to: subject } }),
    ...(description !== before.description && {
      description: { from: before.description, to: description },
    }),
    ...(!isSame(keywords, before.keywords) && {
      keywords: { from: before.keywords, to: keywords },
    }),
  };
  return Object.keys(edit).length === 0 ? undefined : edit;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
