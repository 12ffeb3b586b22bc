/** A field of a JSON object; undefined if it is missing, or there is no object. */
export function jsonField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A field that is a string; otherwise the empty string. */
export function jsonText(value: unknown, name: string): string {
  const found = jsonField(value, name);
  return typeof found === "string" ? found : "";
}
