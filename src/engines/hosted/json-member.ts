/** Returns a member of a JSON object; undefined for a value that is not an object or lacks it. */
export function jsonMember(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? Reflect.get(value, name) : undefined;
}

/** Returns a member that is a list; undefined for any other. */
export function jsonList(value: unknown, name: string): readonly unknown[] | undefined {
  const list = jsonMember(value, name);
  return Array.isArray(list) ? list : undefined;
}
