/**
 * The limits of a transcript (docs/api.md, Transcripts: Create). Characters are Unicode characters.
 */
export const transcriptLimits = {
  segments: 20_000,
  /** The maximum number of ranges of segments that one request changes. */
  changes: 20_000,
  words: 200_000,
  wordChars: 1_000,
  speakerIdChars: 100,
  subjectChars: 1_000,
  descriptionChars: 10_000,
  languageCodeChars: 100,
  keywords: 100,
  keywordChars: 100,
  additionalMetadata: 100,
  additionalMetadataKeyChars: 100,
  additionalMetadataValueChars: 2_000,
  speakers: 1_000,
  speakerNameChars: 1_000,
  noteChars: 1_000,
  /**
   * The maximum size in bytes of all fields that callers may write, in proto3 JSON without unset
   * fields.
   */
  metadataBytes: 65_536,
  hours: 1_000,
} as const;
