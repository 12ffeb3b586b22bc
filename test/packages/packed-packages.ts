import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");

/** What the packages depend on. */
export const dependencies = ["@bufbuild/protobuf", "@connectrpc/connect"] as const;

/**
 * Builds the packages into a folder, and returns the packed file of one and those of all that it
 * depends on, which come from this project's own packages, since tests download nothing.
 */
export async function packedPackages(folder: string, name: string): Promise<string[]> {
  await run(process.execPath, [join(root, "script/npm-packages.ts"), folder]);
  const sources = dependencies.map((dependency) => join(root, "node_modules", dependency));
  return await Promise.all([join(folder, name), ...sources].map((one) => pack(one, folder)));
}

async function pack(source: string, folder: string): Promise<string> {
  const options = ["--json", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await run("npm", ["pack", source, ...options], { cwd: folder });
  const [{ filename }] = JSON.parse(stdout);
  return join(folder, filename);
}
