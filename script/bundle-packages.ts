// Bundles each package of script/bundled-packages.ts into one file. This is quick if nothing has
// changed.
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { bundledNames, bundleFile, bundleFolder } from "./bundled-packages.ts";

const folder = bundleFolder();
// Lets every user run the service from the bundle.
process.umask(0o022);
// The bundle has paths in it, which are relative to the working folder.
process.chdir(resolve(import.meta.dirname, ".."));
if (!existsSync(folder)) {
  const { build } = await import("vite");
  await mkdir(dirname(folder), { recursive: true });
  // The bundle is in a temporary folder until it is complete. If another process creates the same
  // bundle, the first bundle stays.
  const fresh = await mkdtemp(`${folder}.`);
  try {
    await build({
      root: resolve(import.meta.dirname, ".."),
      configFile: false,
      logLevel: "warn",
      ssr: { noExternal: true },
      build: {
        ssr: true,
        outDir: fresh,
        target: "esnext",
        minify: false,
        rolldownOptions: {
          input: Object.fromEntries(bundledNames.map((name) => [bundleFile(name), name])),
          output: { entryFileNames: "[name]", chunkFileNames: "[name]-[hash].mjs" },
          preserveEntrySignatures: "strict",
        },
      },
    });
    await chmod(fresh, 0o755);
    await rename(fresh, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
