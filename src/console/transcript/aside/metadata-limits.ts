/**
 * What the service takes, in Unicode characters (docs/api.md, Transcripts; the contract's limits).
 */
export const metadataLimits = {
  subjectChars: 1000,
  descriptionChars: 10_000,
  keywords: 100,
  keywordChars: 100,
  speakerNameChars: 1000,
} as const;

/** Unicode characters, as the service counts them. */
export function charsOf(text: string): number {
  return Array.from(text).length;
}
