import type {
  SegmentJson,
  TranscriptJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SpokenText } from "../spoken-text.ts";
import type { Speakers } from "./editor/schema.ts";
import { baseOf, paragraphsOf, type Base, type EditedParagraph } from "./model/base.ts";
import { noRetimings, type Retimings } from "./model/retimings.ts";

/** What a user edits, from opening it until it is saved and closed. */
export interface EditSession {
  /** The version that was opened. All edits are relative to it, even after saving. */
  readonly base: Base;
  /** The id of the version that was opened. */
  readonly openedVersion: string;
  /** The base as it is read. */
  readonly text: SpokenText;
  readonly languageCode: string;
  readonly paragraphs: readonly EditedParagraph[];
  readonly speakers: Speakers;
  /** The times that were set for words of the base. */
  readonly retimings: Retimings;
  /** Whether the text has the changes of others since it was opened first. */
  readonly isMerged?: boolean;
  /** The note of the version that is saved next. */
  readonly note?: string | undefined;
  /** What was saved last, or opened. */
  readonly saved: SavedText;
}

/** A version of a text on the service. */
export interface SavedText {
  /** The name of the version. */
  readonly version: string | undefined;
  readonly segments: readonly SegmentJson[] | undefined;
  readonly paragraphs: readonly EditedParagraph[];
  readonly speakers: Speakers;
  readonly retimings: Retimings;
}

/** Opens a version. `text` is how it is read, and `base` has its words, collected before. */
export function newSession(
  { segments, version, metadata }: TranscriptJson,
  text: SpokenText,
  base = baseOf(segments ?? []),
): EditSession {
  const paragraphs = paragraphsOf(base);
  const speakers = metadata?.speakers ?? {};
  return {
    base,
    openedVersion: version?.name ?? "",
    text,
    languageCode: metadata?.languageCode ?? "",
    paragraphs,
    speakers,
    retimings: noRetimings,
    saved: { version: version?.name, segments, paragraphs, speakers, retimings: noRetimings },
  };
}
