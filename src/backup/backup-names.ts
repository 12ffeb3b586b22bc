const namePattern = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

/** Returns the name of a backup that begins at this time. Later names sort later. */
export function backupName(at: Date): string {
  return at.toISOString().replaceAll(":", "-");
}

/** Whether a backup can have this name. */
export function isBackupName(name: string): boolean {
  return namePattern.test(name);
}

/** Whether a text is the end of the checksums of a whole backup. */
export function isChecksumsEnd(text: string): boolean {
  return /(?:^|\n)# whole: \d+ files, SHA-256 of the lines above [\da-f]{64}\n$/.test(text);
}

/** Whether a target or a backup is in a bucket. */
export function isBucketUrl(text: string): boolean {
  return text.startsWith("s3://");
}
