// Loads packages that consist of hundreds of files from the bundles that script/bundle-packages.ts
// has created, because opening a file costs more than running its code. Modules of this project are
// found without a look at the disk, which Node has for each of them.
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dirname, "..");

/**
 * All modules that are imported from these packages. A module that is loaded both from the bundle
 * and from its own file does not recognize its own errors and types.
 */
export const bundledNames: readonly string[] = [
  "@bufbuild/protobuf",
  "@bufbuild/protobuf/codegenv2",
  "@bufbuild/protobuf/reflect",
  "@bufbuild/protobuf/wire",
  "@bufbuild/protobuf/wkt",
  "@connectrpc/connect",
  "@connectrpc/connect-node",
  "@connectrpc/connect/protocol",
  "kysely",
  "kysely/migration",
];
const isBundled = /^(?:@bufbuild\/protobuf|@connectrpc\/connect(?:-node)?|kysely)(?:\/|$)/;

/**
 * Returns the folder of the bundle for the installed versions. If the bundle is missing or
 * unreadable, the packages are loaded from their own files.
 */
export function bundleFolder(): string {
  const hash = createHash("sha256");
  for (const file of ["package-lock.json", "script/bundled-packages.ts"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return join(root, "node_modules/.cache/packages", hash.digest("hex").slice(0, 16));
}

export function bundleFile(name: string): string {
  return `${name.replaceAll(/[@/]/g, "_")}.mjs`;
}

const folder = bundleFolder();
const paths = new Map(bundledNames.map((name) => [name, join(folder, bundleFile(name))]));
if ([...paths.values()].every(isReadable)) {
  const files = new Map(
    Array.from(paths, ([name, path]) => [name, pathToFileURL(path).href] as const),
  );
  registerHooks({
    resolve(specifier, context, next) {
      if (!isBundled.test(specifier)) return next(specifier, context);
      const url = files.get(specifier);
      if (!url) throw new Error(`script/bundled-packages.ts does not list ${specifier}`);
      return { url, format: "module", shortCircuit: true };
    },
  });
}

const own = pathToFileURL(`${root}/`).href;
registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    const isOwn = specifier.startsWith(".") && specifier.endsWith(".ts");
    if (!isOwn || !parentURL?.startsWith(own)) return next(specifier, context);
    const { href: url } = new URL(specifier, parentURL);
    return { url, format: "module-typescript", shortCircuit: true };
  },
});

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
