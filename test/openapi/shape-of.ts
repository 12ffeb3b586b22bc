/**
 * Returns the paths of all fields of a value. All items of a list have one path, and numbers,
 * strings and null are not distinguished.
 */
export function shapeOf(value: unknown, path = ""): string[] {
  const paths = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
    else if (typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        paths.add(`${path}.${name}`);
        walk(item, `${path}.${name}`);
      }
    }
  };
  walk(value, path);
  return [...paths].toSorted();
}
