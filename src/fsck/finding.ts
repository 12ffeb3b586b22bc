/** A flaw of the archive. */
export interface Finding {
  readonly code: FindingCode;
  /** Resource name of the thing: transcripts/<id>/versions/<id>, media/<id> and so on. */
  readonly name: string;
  /** What is wrong with it; never text or metadata of a transcript. */
  readonly what: string;
  /** Where it can be repaired without loss. */
  readonly remedy?: Remedy;
}

export interface Remedy {
  /** What was done, in words: "the head was made again from its version". */
  readonly done: string;
  /** Checks again, and repairs it; false: it could not be done without loss. */
  run(): Promise<boolean>;
}

/** Every kind of finding, with its meaning. */
export const findingCodes = {
  HEAD_VERSION_MISSING: "a transcript names a version that it does not have",
  HEAD_NOT_NEWEST: "a transcript names a version that has a later one",
  HEAD_METADATA: "what lists show of a transcript differs from its version",
  HEAD_PARENT: "a transcript names another parent than its version",
  HEAD_TIME: "a transcript has another time than its version",
  HEAD_SUBJECT: "a subject is not folded from its metadata: the filter does not find it",
  HEAD_KEYWORDS: "keywords differ from those of the metadata: the filter does not find them",
  VERSION_PARENT_MISSING: "a version's parent is not there: the chain has a gap",
  VERSION_ROOTS: "several versions without a parent, or none",
  VERSION_FORK: "two versions of one parent",
  VERSION_TIME: "a version is not later than its parent",
  VERSION_CYCLE: "versions that no first version leads to",
  VERSION_UNOWNED: "a version without its transcript",
  SEGMENTS_MISSING: "a version without its segments",
  SEGMENTS_UNREADABLE: "segments that do not decompress",
  SEGMENTS_LENGTH: "segments of another length than recorded",
  SEGMENTS_ALTERED: "segments of another SHA-256 than recorded",
  SEGMENTS_INVALID: "segments that are no segments",
  SEGMENTS_UNUSED: "segments that no version refers to",
  MEDIA_MISSING: "media whose bytes are not in the store",
  MEDIA_LENGTH: "media of another length than recorded",
  MEDIA_ALTERED: "media of another SHA-256 than recorded",
  MEDIA_UNUSED: "media that no transcript, upload or job refers to",
  MEDIA_FACTS: "a waveform or other facts that do not fit together",
  MEDIA_UNRECORDED: "bytes in the store that no record knows",
  MEDIA_SET_ASIDE: "media whose bytes were set aside, as those that no record knows are",
  MEDIA_PURGED: "bytes that were set aside and that no record knows; reported with --purge only",
  MEDIA_UNFINISHED: "the rest of an upload that broke off more than an hour ago",
  TRANSCRIPT_MEDIA: "a transcript with media that is not there, or another account's",
  UPLOAD_MEDIA: "an upload with media that is not there, or another account's",
  UPLOAD_TRANSCRIPT: "an upload to another account's transcript",
  JOB_MEDIA: "a job with media that is not there, or another account's",
  JOB_UPLOAD: "a job with another account's upload",
  JOB_TRANSCRIPT: "a job that ended well without a transcript, or with another account's",
} as const;

export type FindingCode = keyof typeof findingCodes;
