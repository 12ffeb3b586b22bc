// Makes one file of each of the packages of script/bundled-packages.ts; quick when nothing changed.
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { bundledNames, bundleFile, bundleFolder } from "./bundled-packages.ts";

const folder = bundleFolder();
// Every user may run the service from it.
process.umask(0o022);
if (!existsSync(folder)) {
  const { build } = await import("vite");
  await mkdir(dirname(folder), { recursive: true });
  // In a folder of its own until it is complete. Another process may make the same: the first one
  // stays.
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
