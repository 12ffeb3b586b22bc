/** An object whose fields are not checked yet. */
export type Unchecked = Readonly<Record<string, unknown>>;

/** Parses JSON. The error of JSON.parse() shows a part of it, which may be what was said. */
export function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch {
    throw new Error("the payload is not JSON");
  }
}

export function isObject(value: unknown): value is Unchecked {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

export function isText(value: unknown, lettersMax: number): value is string {
  return typeof value === "string" && value.length <= lettersMax;
}

/** Returns a whole number. Throws an Error for anything else, as all functions here do. */
export function checkWhole(value: unknown, name: string, max: number): number {
  if (isNumber(value) && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new Error(`${name} must be a whole number from 0 to ${max}, not ${shown(value)}`);
}

export function checkNumber(value: unknown, name: string, max: number): number {
  if (isNumber(value) && value >= 0 && value <= max) return value;
  throw new Error(`${name} must be a number from 0 to ${Math.round(max)}, not ${shown(value)}`);
}

export function checkList(value: unknown, name: string, max: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= max) return value;
  throw new Error(`${name} must be a list of at most ${max}`);
}

export function isOneOf(value: unknown, values: readonly unknown[]): boolean {
  return values.includes(value);
}

/** Texts may be what was said, so only numbers are shown. */
export function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : typeof value;
}
