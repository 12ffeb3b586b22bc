/** Something measured, and what it is held to. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly unit: "us" | "ms";
  readonly note: string;
}
