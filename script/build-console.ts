// Builds the console into dist/console, with compressed copies of each file. Does nothing if the
// sources have not changed.
import { createHash } from "node:crypto";
import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = resolve(import.meta.dirname, "..");
const built = join(root, "dist/console");
/**
 * The file with the hash of the sources. It is in the built folder, so that both are replaced
 * together.
 */
const stamp = ".stamp";
/** The sources of the console, and everything that they import. */
const sources = [
  "src/{console,client,cues,gen,std,transcoding}/**/*",
  "samples/*.wav",
  "package-lock.json",
];

const wanted = hashOfSources();
if (readStamp() !== wanted) {
  // The console is built in another folder first, so that an interrupted build or two concurrent
  // builds leave no partial console.
  const fresh = `${built}.${process.pid}`;
  try {
    const { build } = await import("vite");
    const configFile = join(root, "src/console/vite.config.ts");
    await build({ configFile, logLevel: "warn", build: { outDir: fresh, emptyOutDir: true } });
    const names = globSync("**/*.{html,js,css,svg}", { cwd: fresh });
    await Promise.all(names.map(async (name) => await compress(join(fresh, name))));
    writeFileSync(join(fresh, stamp), wanted);
    replaceBy(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
process.exitCode = 0;

function hashOfSources(): string {
  const hash = createHash("sha256");
  const files = globSync(sources, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  for (const file of [...files, import.meta.filename]) {
    hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

function readStamp(): string | undefined {
  try {
    return readFileSync(join(built, stamp), "utf8");
  } catch {
    return undefined;
  }
}

/** Replaces the built console. If several builds replace it concurrently, the last one wins. */
function replaceBy(fresh: string): void {
  const before = `${fresh}.before`;
  for (let isThere = false; !isThere;) {
    moveAway(built, before);
    isThere = moved(fresh, built);
    rmSync(before, { recursive: true, force: true });
  }
}

/** Renames a folder. Returns false if the target already exists. */
function moved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isOneOf(error, ["ENOTEMPTY", "EEXIST"])) return false;
    throw error;
  }
}

function moveAway(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isOneOf(error, ["ENOENT"])) throw error;
  }
}

function isOneOf(error: unknown, codes: readonly unknown[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(error.code);
}

async function compress(file: string): Promise<void> {
  const content = readFileSync(file);
  const small = await promisify(brotliCompress)(content, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
  writeFileSync(`${file}.br`, small);
  writeFileSync(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}
