/** The API's limits for TranscriptMetadata, in Unicode characters. */
export const metadataLimits = {
  subjectChars: 1_000,
  descriptionChars: 10_000,
  keywords: 100,
  keywordChars: 100,
  speakerNameChars: 1_000,
} as const;

/** Returns the length of a text in Unicode characters, as the service counts it. */
export function charCount(text: string): number {
  return Array.from(text).length;
}
