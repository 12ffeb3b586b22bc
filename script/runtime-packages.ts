// Finds the packages that the service runs with: those that its sources import, and what they
// depend on. The console's packages are needed only to build it.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** An installed package. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; "" if the package names none. */
  readonly license: string;
  /** Its folder, relative to the project's root. */
  readonly path: string;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns the packages of a project, sorted by path: the dependencies that are needed (by default
 * those that the service's sources import) and what they depend on. Throws if one that is not
 * optional is not installed. Optional ones are those for other architectures, of which at most one
 * is installed.
 */
export function runtimePackages(
  root: string,
  isNeeded: (name: string) => boolean = importedBy(root),
): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  const project = readManifest(join(root, "package.json"));
  const needed = Object.keys(project.dependencies ?? {}).filter(isNeeded);
  const waiting = [...needed, ...Object.keys(project.optionalDependencies ?? {})].map((name) => {
    return { name, from: "", isOptional: !needed.includes(name) };
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = folderOf(root, next.name, next.from);
    if (path === undefined) {
      if (next.isOptional) continue;
      throw new Error(`${next.name} is not installed: run script/setup first`);
    }
    if (found.has(path)) continue;
    const manifest = readManifest(join(root, path, "package.json"));
    const { name = next.name, version = "", license } = manifest;
    found.set(path, { name, version, license: typeof license === "string" ? license : "", path });
    const optional = Object.keys(manifest.optionalDependencies ?? {});
    for (const each of [...Object.keys(manifest.dependencies ?? {}), ...optional]) {
      waiting.push({ name: each, from: path, isOptional: optional.includes(each) });
    }
  }
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns a function that finds out whether the service's sources name a package. */
function importedBy(root: string): (name: string) => boolean {
  const files = globSync("src/**/*.ts", { cwd: root, exclude: ["src/console/**"] });
  const code = files
    .filter((file) => !file.endsWith(".test.ts") && !file.startsWith("src/console/"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  return (name) => code.includes(`"${name}"`) || code.includes(`"${name}/`);
}

/** Returns the folder of a package as Node finds it from `from`. */
function folderOf(root: string, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(root, path, "package.json"))) return path;
    if (folder === "" || folder === ".") return undefined;
  }
}

function readManifest(file: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(file, "utf8"));
  return manifest;
}
