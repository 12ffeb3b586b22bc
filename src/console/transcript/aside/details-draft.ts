import type { TranscriptMetadataJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { MetadataEdit } from "./change-metadata.ts";

/** The fields of the details dialog. */
export interface DetailsDraft {
  readonly subject: string;
  readonly description: string;
  readonly keywords: readonly string[];
}

/** The state of the details dialog. */
export interface EditedDetails {
  /** The values when the user began, or when the dialog last showed a conflict. */
  readonly before: DetailsDraft;
  readonly draft: DetailsDraft;
  /** A keyword that was typed but not added yet. */
  readonly keyword: string;
}

/** Returns the details of a transcript. */
export function draftOf(metadata: TranscriptMetadataJson = {}): DetailsDraft {
  const { subject = "", description = "", keywords = [] } = metadata;
  return { subject, description, keywords };
}

/** Returns the changes in a draft, or undefined if there are none. */
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
