import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");

/** What the packages depend on. */
export const dependencies = ["@bufbuild/protobuf", "@connectrpc/connect"] as const;

/** The folder with all packages, and their packed files, which the files of a suite share. */
let built: Promise<string> | undefined;
const packed = new Map<string, Promise<string>>();

/**
 * Puts a package into a folder, as it is built, and returns the packed file of it and those of all
 * that it depends on, which come from this project's own packages, since tests download nothing.
 */
export async function packedPackages(folder: string, name: string): Promise<string[]> {
  const all = await (built ??= build());
  await cp(join(all, name), join(folder, name), { recursive: true });
  const sources = dependencies.map((dependency) => join(root, "node_modules", dependency));
  const files = [join(all, name), ...sources].map(async (source) => {
    const file = packed.get(source) ?? pack(source, all);
    packed.set(source, file);
    return await file;
  });
  return await Promise.all(
    files.map(async (file) => {
      const copy = join(folder, basename(await file));
      await cp(await file, copy);
      return copy;
    }),
  );
}

/** Builds all packages into a folder, which is deleted when this process ends. */
async function build(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "hlust-packed-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  await run(process.execPath, [join(root, "script/npm-packages.ts"), folder]);
  return folder;
}

async function pack(source: string, folder: string): Promise<string> {
  const options = ["--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", ["pack", source, ...options], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}
