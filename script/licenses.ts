// The licenses of all npm packages that a release ships, in the service or built into the console,
// and of the models that come with it.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstalledPackage } from "./runtime-packages.ts";

/**
 * The licenses that a release may ship, which allow use and distribution with a notice alone. Add
 * one here only after reading it.
 */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "OFL-1.1",
  "Unlicense",
]);

/** Dependencies that build the console and are not in what is built. */
const buildTools: ReadonlySet<string> = new Set(["vite", "@vitejs/plugin-react", "subset-font"]);

/** Returns whether a dependency of the project is shipped. */
export function isShipped(name: string): boolean {
  return !buildTools.has(name);
}

/** Returns the models that come with the service, as packages. */
export function shippedModels(root: string): InstalledPackage[] {
  return globSync("models/*/model.json", { cwd: root }).map((path) => {
    const card: { name: string; version: string; licence?: string } = JSON.parse(
      readFileSync(join(root, path), "utf8"),
    );
    const { name, version, licence: license = "" } = card;
    return { name: `${name} (model)`, version, license, path };
  });
}

/**
 * Returns a report with a line for each package, by license. Throws if a license is not allowed or
 * a package names none, with the name of every such package.
 */
export function licenseReport(packages: readonly InstalledPackage[]): string {
  const refused = packages.filter(({ license }) => !isAllowed(license));
  if (refused.length > 0) {
    const names = refused.map(({ name, version, license }) => {
      return `  ${name} ${version}: ${license || "names no license"}`;
    });
    throw new Error(`not in the list of script/licenses.ts:\n${names.join("\n")}`);
  }
  const lines = packages.map(({ name, version, license }) => `${license}  ${name} ${version}`);
  return `${[...new Set(lines)].toSorted().join("\n")}\n`;
}

/** One of the alternatives (OR) must be allowed, with each license that it joins (AND). */
function isAllowed(expression: string): boolean {
  const bare = expression.replaceAll(/[()]/g, "");
  return bare
    .split(" OR ")
    .some((alternative) => alternative.split(" AND ").every((one) => allowed.has(one.trim())));
}
