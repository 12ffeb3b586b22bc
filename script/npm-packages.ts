// Builds the packages for npm into dist/npm, or into the folder that the argument names. Each
// folder of packages/ has the package.json, the README and the tsconfig.json of one package. The
// versions of a package and of what it depends on are those of this project. Nothing is published.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { settleFiles } from "./settle-files.ts";

const root = resolve(import.meta.dirname, "..");
const bin = join(root, "node_modules/.bin");
const output = resolve(process.argv[2] ?? join(root, "dist/npm"));
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

for (const name of readdirSync(join(root, "packages"))) {
  const folder = join(root, "packages", name);
  const target = join(output, name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  run(join(bin, "tsc"), ["--project", folder, "--outDir", join(target, "dist")]);
  for (const file of globSync(join(target, "dist/gen/**/*_pb.js"))) shrinkDescriptor(file);
  const described = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const ranges = Object.entries<string>(described.dependencies ?? {}).map(([dependency]) => {
    const version: unknown = own.dependencies[dependency];
    if (typeof version !== "string") throw new Error(`package.json has no ${dependency}`);
    return [dependency, `^${version}`];
  });
  const dependencies = Object.fromEntries(ranges);
  const written = { ...described, version: own.version, dependencies };
  writeFileSync(join(target, "package.json"), `${JSON.stringify(written, undefined, 2)}\n`);
  cpSync(join(folder, "README.md"), join(target, "README.md"));
  if (described.files.includes("proto")) copyProtos(join(target, "proto"));
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  // npm packs the modes of the files, and gives them a time of its own.
  settleFiles(target, 0);
  console.log(target);
}

/**
 * Writes the descriptor of a generated file as the text of its bytes instead of in base64, which
 * hides repeated bytes from compression: a bundle of the client has 5 kB less.
 */
function shrinkDescriptor(file: string): void {
  const code = readFileSync(file, "utf8");
  const written = code.replace(/fileDesc\("([^"]+)"/, (_, base64: string) => {
    return `fileDesc(btoa(${JSON.stringify(atob(base64))})`;
  });
  writeFileSync(file, written);
}

/** Copies the protos of the options that an API needs to have HTTP rules. */
function copyProtos(target: string): void {
  cpSync(join(root, "third_party/googleapis/google/api"), join(target, "google/api"), {
    recursive: true,
  });
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
