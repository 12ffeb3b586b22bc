export const alignmentStates = [
  "QUEUED",
  "TRANSCODING",
  "ALIGNING",
  "SUCCESS",
  "ERROR",
  "CANCELLED",
] as const;
export type AlignmentState = (typeof alignmentStates)[number];

/** An alignment job as it is stored. */
export interface StoredAlignment {
  readonly id: string;
  readonly accountId: string;
  readonly transcriptId: string;
  /** The version that is aligned. */
  readonly versionId: string;
  readonly state: AlignmentState;
  readonly progressPercent: number;
  /** The version that the job created; null unless the state is SUCCESS. */
  readonly createdVersionId: string | null;
  /** A google.rpc.Status as JSON text. */
  readonly error: string | null;
  readonly startedAt: Date;
  readonly updatedAt: Date;
}

/** Returns whether the job has not ended. */
export function isOpen({ state }: Pick<StoredAlignment, "state">): boolean {
  return state === "QUEUED" || state === "TRANSCODING" || state === "ALIGNING";
}
