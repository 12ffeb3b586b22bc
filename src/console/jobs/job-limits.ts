/** The contract's limits of what is typed for a job (TranscriptMetadata), in Unicode characters. */
export const jobLimits = {
  subjectChars: 1_000,
  descriptionChars: 10_000,
  keywords: 100,
  keywordChars: 100,
} as const;

/** The keywords in a line of them. */
export function keywordsIn(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  return [...new Set(words.filter((word) => word !== ""))];
}

/** How long a text is as the service counts. */
export function charCount(text: string): number {
  return Array.from(text).length;
}
