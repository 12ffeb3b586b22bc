// Writes the list of all parts of an installation (SBOM) in CycloneDX's format, and reads it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianPackage } from "./debian-packages.ts";
import { nativeParts } from "./native-parts.ts";
import type { InstalledPackage } from "./runtime-packages.ts";

/** The property of a Debian package with its source package and version. */
const sourceProperty = "debian:source";

/**
 * Returns a CycloneDX document of the packages of npm, with the parts inside them, and of Debian.
 * The same parts give the same bytes: the document has neither a date nor a serial number.
 */
export function billOfMaterials(
  root: string,
  packages: readonly InstalledPackage[],
  debian: readonly DebianPackage[],
): string {
  const project: { version: string; description: string; license: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const fromNpm = packages.map((installed) => {
    const { name, version, license } = installed;
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    const parts = nativeParts(root, installed).map((part) => ({
      type: "library",
      name: part.name,
      ...(part.version !== "" && { version: part.version }),
      ...licensed(part.license),
    }));
    return {
      ...component(name, version, purl),
      ...licensed(license),
      ...(parts.length > 0 && { components: parts }),
    };
  });
  const fromDebian = debian.map(({ name, version, architecture, source, license }) => {
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
    const properties = [{ name: sourceProperty, value: `${source.name} ${source.version}` }];
    return { ...component(name, version, purl), ...licensed(license), properties };
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
  return license === "" ? {} : { licenses: [{ expression: license }] };
}

/** A package of Debian as a document has it. */
export interface ListedDebianPackage {
  readonly name: string;
  readonly version: string;
  /** "" if the document has none. */
  readonly license: string;
  /** Name and version of the source package. */
  readonly source: string;
}

/** Returns the packages of Debian that a document lists. */
export function listedDebianPackages(document: string): ListedDebianPackage[] {
  const { components }: { components: readonly Component[] } = JSON.parse(document);
  return components
    .filter(({ purl }) => purl.startsWith("pkg:deb/"))
    .map(({ name, version, licenses = [], properties = [] }) => {
      const source = properties.find((property) => property.name === sourceProperty)?.value;
      const license = licenses[0]?.expression ?? "";
      return { name, version, license, source: source ?? `${name} ${version}` };
    });
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly expression: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}
