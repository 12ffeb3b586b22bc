/** Called as work proceeds. `total` is what is known of the end; `unit` is what is counted. */
export type OnProgress = (progress: Progress) => void;

export interface Progress {
  readonly phase: "tables" | "media" | "verification";
  readonly done: number;
  readonly total: number;
  readonly unit: "tables" | "bytes";
}
