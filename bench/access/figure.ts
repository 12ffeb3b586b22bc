/** A measured figure and its limit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly unit: "us" | "ms";
  readonly note: string;
}
