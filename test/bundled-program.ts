import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache/programs");
const moduleFiles = ["src/**/*.ts", "test/**/*.ts", "package-lock.json"];
/** Only a service with a bucket loads them; they are found where they are. */
const external = [/^@aws-sdk\//, /^@smithy\//, "pg-native"];

/** For Node, before a program that is started as it is: packages are loaded as one file each (script/bundled-packages.ts). */
export const withBundledPackages: readonly string[] = [
  "--require",
  join(root, "script/bundled-packages.ts"),
];

/**
 * A program of a test's (a .ts file) with all that it imports as one file: to load it takes a third of the time of its hundreds of
 * files, which counts where a test starts it many times. Its `using` must be within functions: of the top level the bundler
 * makes variables that nobody disposes of.
 */
export async function bundledProgram(entry: string): Promise<string> {
  const name = basename(entry, ".ts");
  if (/^(await )?using /m.test(readFileSync(entry, "utf8"))) {
    throw new Error(`${name} would not dispose of what it uses at its top level`);
  }
  const folder = join(cache, `${name}-${keyOf()}`);
  if (!existsSync(folder)) await bundle(entry, folder);
  return join(folder, `${name}.mjs`);
}

/** Each source may be a part of it. */
function keyOf(): string {
  const hash = createHash("sha256");
  for (const file of globSync(moduleFiles, { cwd: root }).toSorted()) {
    if (file.endsWith(".test.ts")) continue;
    hash
      .update(file)
      .update("\0")
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex").slice(0, 16);
}

/** Others may make it at the same time: the first one stays. */
async function bundle(entry: string, folder: string): Promise<void> {
  const { build } = await import("vite");
  await mkdir(cache, { recursive: true });
  const fresh = await mkdtemp(`${folder}.`);
  try {
    await build({
      root,
      configFile: false,
      logLevel: "warn",
      plugins: [{ name: "places", enforce: "pre", transform: withPlaces }],
      ssr: { noExternal: true },
      build: {
        ssr: entry,
        outDir: fresh,
        target: "esnext",
        minify: false,
        rolldownOptions: { external, output: { entryFileNames: "[name].mjs" } },
      },
    });
    await rename(fresh, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** A module that looks beside itself finds what is beside its source. */
function withPlaces(code: string, file: string): string | undefined {
  if (!file.startsWith(root) || !code.includes("import.meta")) return undefined;
  return code
    .replaceAll("import.meta.dirname", JSON.stringify(dirname(file)))
    .replaceAll("import.meta.filename", JSON.stringify(file))
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href));
}
