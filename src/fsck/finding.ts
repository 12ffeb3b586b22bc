/** A flaw in the archive. */
export interface Finding {
  readonly code: FindingCode;
  /**
   * The name of the resource with the flaw: transcripts/<id>/versions/<id>, media/<id> and so on.
   */
  readonly name: string;
  /** A description of the flaw, without text or metadata of a transcript. */
  readonly what: string;
  /** How to repair the flaw; undefined if that is impossible without loss. */
  readonly remedy?: Remedy;
}

export interface Remedy {
  /** A description of the result: "its head was rebuilt from its newest version". */
  readonly done: string;
  /** Checks the flaw again and repairs it. Returns false if that was impossible without loss. */
  run(): Promise<boolean>;
}

/** Every kind of finding, with its meaning. */
export const findingCodes = {
  HEAD_VERSION_MISSING: "the current version of a transcript does not exist",
  HEAD_NOT_NEWEST: "the current version of a transcript is not its newest",
  HEAD_METADATA: "the metadata of a transcript in lists differs from its version",
  HEAD_PARENT: "the parent of a transcript differs from that of its version",
  HEAD_TIME: "the time of a transcript differs from that of its version",
  HEAD_SUBJECT: "a folded subject differs from the metadata: the filter does not find it",
  HEAD_KEYWORDS: "keywords differ from those of the metadata: the filter does not find them",
  HEAD_DURATION: "a recording duration by which lists are ordered differs from the shown one",
  VERSION_PARENT_MISSING: "a version's parent does not exist: the chain has a gap",
  VERSION_ROOTS: "a transcript has several versions without a parent, or none",
  VERSION_FORK: "several versions have the same parent",
  VERSION_TIME: "a version is not later than its parent",
  VERSION_CYCLE: "versions whose parents lead back to them",
  VERSION_UNOWNED: "a version without its transcript",
  SEGMENTS_MISSING: "a version without its segments",
  SEGMENTS_UNREADABLE: "segments that do not decompress",
  SEGMENTS_LENGTH: "segments whose length differs from the record",
  SEGMENTS_ALTERED: "segments whose SHA-256 differs from the record",
  SEGMENTS_INVALID: "segments that the API cannot read",
  SEGMENTS_UNUSED: "segments that no version refers to",
  MEDIA_MISSING: "media whose bytes are not in the store",
  MEDIA_LENGTH: "media whose length differs from the record",
  MEDIA_ALTERED: "media whose SHA-256 differs from the record",
  MEDIA_UNUSED: "media that no transcript, upload or job refers to",
  MEDIA_FACTS: "a waveform or other facts that do not fit together",
  MEDIA_OUTPUTS: "outputs of a model for media that have changed: alignment would misread them",
  MEDIA_UNRECORDED: "bytes in the store without a record",
  MEDIA_SET_ASIDE: "media with a record whose bytes were set aside, as bytes without a record are",
  MEDIA_PURGED: "bytes without a record that were set aside; reported with --purge only",
  MEDIA_UNFINISHED: "the remains of an upload that was interrupted more than an hour ago",
  TRANSCRIPT_MEDIA: "the media of a transcript does not exist, or belongs to another account",
  UPLOAD_MEDIA: "the media of an upload does not exist, or belongs to another account",
  UPLOAD_TRANSCRIPT: "an upload for a transcript of another account",
  JOB_MEDIA: "the media of a job does not exist, or belongs to another account",
  JOB_UPLOAD: "a job with an upload of another account",
  JOB_TRANSCRIPT: "a job that succeeded without a transcript, or with one of another account",
  DRAFT_ACCOUNT: "a draft of another account's transcript, member or key",
  DRAFT_VERSION: "a draft of a version that its transcript does not have",
  REVIEW_ACCOUNT: "a review of another account's transcript",
  REVIEW_RANGES: "ranges of one kind and author of a review that overlap or touch",
  SHARE_ACCOUNT: "a share of another account's transcript",
  SHARE_VERSION: "a share of a version that its transcript does not have",
  PHRASE_FOLDED: "a phrase of a vocabulary under another text: it can be there twice",
  PHRASE_LANGUAGE: "a phrase of a vocabulary that recognition does not find by its language",
  PHRASE_REVISION: "an active phrase of a vocabulary without a revision: it is not used",
  ALIGNMENT_TRANSCRIPT: "an alignment job of a transcript of another account",
  ALIGNMENT_VERSION: "an alignment job whose versions are missing, or of another transcript",
} as const;

export type FindingCode = keyof typeof findingCodes;
