// Writes the list of all parts of an installation (SBOM) in CycloneDX's format.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstalledPackage } from "./runtime-packages.ts";

/**
 * Returns a CycloneDX document of the packages of npm and of Debian. `debianStatus` is the text of
 * dpkg's status file, "" for an installation that brings no Debian packages. The same parts give
 * the same bytes: the document has neither a date nor a serial number.
 */
export function billOfMaterials(
  root: string,
  packages: readonly InstalledPackage[],
  debianStatus: string,
): string {
  const project: { version: string; description: string; license: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const fromNpm = packages.map(({ name, version, license }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { ...component(name, version, purl), ...(license !== "" && licensed(license)) };
  });
  const fromDebian = debianPackages(debianStatus).map(({ name, version, architecture }) => {
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
    return component(name, version, purl);
  });
  const components = [
    ...new Map([...fromNpm, ...fromDebian].map((each) => [each.purl, each])).values(),
  ];
  const service = {
    type: "application",
    "bom-ref": `hlust@${project.version}`,
    name: "hlust",
    version: project.version,
    description: project.description,
    ...licensed(project.license),
  };
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: service },
    components,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function component(name: string, version: string, purl: string) {
  return { type: "library", "bom-ref": purl, name, version, purl };
}

function licensed(license: string) {
  return { licenses: [{ expression: license }] };
}

/** Returns the installed packages of a status file of dpkg. */
function debianPackages(status: string) {
  return status
    .split("\n\n")
    .filter((entry) => /^Status: .* installed$/m.test(entry))
    .map((entry) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(entry)?.[1] ?? "";
      return {
        name: field("Package"),
        version: field("Version"),
        architecture: field("Architecture"),
      };
    });
}
