// The licenses of all that a release ships: packages of npm, in the service or built into the
// console, the parts in their compiled files, models, and the packages of Debian in the image.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { allowedOfDebian } from "./debian-allowed.ts";
import { nativeParts } from "./native-parts.ts";
import type { InstalledPackage } from "./runtime-packages.ts";
import type { ListedDebianPackage } from "./sbom.ts";

/**
 * The licenses that a release may ship, which allow use and distribution with a notice alone. Add
 * one here only after reading it.
 */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BSL-1.0",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ICU",
  "ISC",
  "ISC-Veillard",
  "LicenseRef-public-domain",
  "MIT",
  "MIT-0",
  "NAIST-2003",
  "OFL-1.1",
  "OpenSSL",
  "PostgreSQL",
  "TCL",
  "Unicode-3.0",
  "Unicode-DFS-2016",
  "Unlicense",
  "Zlib",
]);

/**
 * Parts whose license asks for more than a notice. Eigen's binds only its own files, which nothing
 * here changes. eSpeak NG is in sherpa-onnx, which is built with speech synthesis, and which the
 * service does not use for it: Apache-2.0 may be combined with GPL 3, and its sources are
 * offered with each release (docs/releasing.md, Sources).
 */
const allowedParts: ReadonlySet<string> = new Set([
  "Eigen: MPL-2.0",
  "eSpeak NG: GPL-3.0-or-later",
]);

/** Dependencies that build the console and are not in what is built. */
const buildTools: ReadonlySet<string> = new Set(["vite", "@vitejs/plugin-react", "subset-font"]);

/** Returns whether a dependency of the project is shipped. */
export function isShipped(name: string): boolean {
  return !buildTools.has(name);
}

/** What a report has a line for. */
interface Licensed {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression; "" if there is none. */
  readonly license: string;
}

/** Returns the models that come with the service, as packages. */
export function shippedModels(root: string): Licensed[] {
  return globSync("models/*/model.json", { cwd: root }).map((path) => {
    const card: { name: string; version: string; licence?: string } = JSON.parse(
      readFileSync(join(root, path), "utf8"),
    );
    const { name, version, licence: license = "" } = card;
    return { name: `${name} (model)`, version, license };
  });
}

/** Returns the parts in the compiled files of packages. */
export function shippedParts(root: string, packages: readonly InstalledPackage[]): Licensed[] {
  return packages.flatMap((installed) =>
    nativeParts(root, installed).map(({ name, version, license }) => {
      const place = `in ${installed.name} ${installed.version}`;
      return { name, version: `${version} ${place}`.trim(), license };
    }),
  );
}

/**
 * Returns a report with a line for each package, by license. Throws if a license is not allowed or
 * a package names none, with the name of every such package.
 */
export function licenseReport(packages: readonly Licensed[]): string {
  const isListed = ({ name, license }: Licensed) =>
    isAllowed(license, allowed) || allowedParts.has(`${name}: ${license}`);
  refuseOthers(packages, isListed, { list: "script/licenses.ts", none: "names no license" });
  return sorted(packages.map(({ name, version, license }) => `${license}  ${name} ${version}`));
}

/** Returns the same for the packages of Debian in the image, with the source package of each. */
export function debianReport(packages: readonly ListedDebianPackage[]): string {
  const isListed = ({ license }: Licensed) => isAllowed(license, allowedOfDebian);
  const none =
    "its file copyright names no license; read it, and add it to script/debian-reviewed.ts";
  refuseOthers(packages, isListed, { list: "script/debian-allowed.ts", none });
  return sorted(
    packages.map(({ name, version, license, source }) => {
      return `${license}  ${name} ${version} (source: ${source})`;
    }),
  );
}

function refuseOthers(
  packages: readonly Licensed[],
  isListed: (one: Licensed) => boolean,
  { list, none }: { readonly list: string; readonly none: string },
): void {
  const refused = packages.filter((one) => !isListed(one));
  if (refused.length === 0) return;
  const names = refused.map(({ name, version, license }) => {
    return `  ${name} ${version}: ${license || none}`;
  });
  throw new Error(`not in the list of ${list}:\n${names.join("\n")}`);
}

function sorted(lines: readonly string[]): string {
  return `${[...new Set(lines)].toSorted().join("\n")}\n`;
}

/**
 * Returns whether an SPDX expression can be met: one of the alternatives (OR), with each license
 * that it joins (AND).
 */
function isAllowed(expression: string, licenses: ReadonlySet<string>): boolean {
  const words = wordsOf(expression);
  let isWhole = true;
  const one = (): boolean => {
    const word = words.shift() ?? "";
    if (word !== "(") {
      isWhole &&= licenseNames(word).length === 1;
      return licenses.has(word);
    }
    const isInside = either();
    isWhole &&= words.shift() === ")";
    return isInside;
  };
  const all = (): boolean => {
    let isMet = one();
    while (words[0] === "AND") {
      words.shift();
      isMet = one() && isMet;
    }
    return isMet;
  };
  const either = (): boolean => {
    let isMet = all();
    while (words[0] === "OR") {
      words.shift();
      isMet = all() || isMet;
    }
    return isMet;
  };
  return either() && isWhole && words.length === 0;
}

/** A license with its exception is one word. */
function wordsOf(expression: string): string[] {
  return expression.match(/[()]|[^\s()]+(?: WITH [^\s()]+)?/g) ?? [];
}

/** Returns the names of the licenses in an SPDX expression. */
export function licenseNames(expression: string): string[] {
  return wordsOf(expression).filter((word) => !/^(?:[()]|AND|OR)$/.test(word));
}
