/** An object whose fields are not checked yet. */
export type Unchecked = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Unchecked {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function isText(value: unknown, lettersMax: number): value is string {
  return typeof value === "string" && value.length <= lettersMax;
}
