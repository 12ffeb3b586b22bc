import { readFileSync } from "node:fs";

/**
 * Returns the entries of dpkg's status file for packages that are installed here, and for all that
 * they and the essential packages depend on. `without` has packages to leave out with what only
 * they depend on.
 */
export function installedWith(names: readonly string[], without: ReadonlySet<string>): string {
  const entries = new Map<string, string>();
  const provided = new Map<string, string>();
  const essential: string[] = [];
  for (const entry of readFileSync("/var/lib/dpkg/status", "utf8").split("\n\n")) {
    if (!/^Status: .* installed$/m.test(entry)) continue;
    const name = field(entry, "Package");
    entries.set(name, entry);
    for (const other of namesOf(field(entry, "Provides"))) provided.set(other, name);
    if (field(entry, "Essential") === "yes") essential.push(name);
  }
  const found = new Set<string>();
  const waiting = [...names, ...essential];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const name = entries.has(next) ? next : provided.get(next);
    if (name === undefined && names.includes(next)) throw new Error(`${next} is not installed`);
    if (name === undefined || found.has(name) || without.has(name)) continue;
    found.add(name);
    const entry = entries.get(name) ?? "";
    waiting.push(...namesOf(field(entry, "Depends")), ...namesOf(field(entry, "Pre-Depends")));
  }
  return [...found].map((name) => entries.get(name)).join("\n\n");
}

function field(entry: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, "m").exec(entry)?.[1] ?? "";
}

/** Returns the names in a field of dependencies, all alternatives included. */
function namesOf(text: string): string[] {
  return text
    .split(/[,|]/)
    .map((one) => one.trim().replace(/[ (:].*$/, ""))
    .filter((name) => name !== "");
}
