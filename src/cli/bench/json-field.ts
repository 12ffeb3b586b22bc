/**
 * Returns a field of a JSON object, or undefined if the field is missing or the value is not an
 * object.
 */
export function jsonField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns a field that is a string, or else the empty string. */
export function jsonText(value: unknown, name: string): string {
  const found = jsonField(value, name);
  return typeof found === "string" ? found : "";
}
