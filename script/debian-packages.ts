// Finds the packages of Debian in an image, with their sources and licenses.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { debianLicense } from "./debian-license.ts";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** The source package and its version, with which Debian's archive finds its sources. */
  readonly source: { readonly name: string; readonly version: string };
  /** An SPDX expression; "" if the license cannot be found. */
  readonly license: string;
}

/** Returns the installed packages of dpkg's status file; `documents` is /usr/share/doc. */
export function debianPackages(status: string, documents = "/usr/share/doc"): DebianPackage[] {
  return status
    .split("\n\n")
    .filter((entry) => /^Status: .* installed$/m.test(entry))
    .map((entry) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(entry)?.[1] ?? "";
      const [name, version] = [field("Package"), field("Version")];
      const [, source = name, sourceVersion = version] =
        /^(\S+)(?: \((.*)\))?$/.exec(field("Source")) ?? [];
      const file = join(documents, name, "copyright");
      const license = existsSync(file) ? debianLicense(readFileSync(file, "utf8"), source) : "";
      const architecture = field("Architecture");
      return {
        name,
        version,
        architecture,
        source: { name: source, version: sourceVersion },
        license,
      };
    });
}
