// Builds all that a release ships into a folder, from a tag, and publishes nothing: see
// docs/releasing.md. Usage: node script/release.ts [--only PARTS] [--output FOLDER] [--bare]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { helmProgram } from "./helm.ts";
import { debianReport, isShipped, licenseReport, shippedModels, shippedParts } from "./licenses.ts";
import { runtimePackages } from "./runtime-packages.ts";
import { billOfMaterials, listedDebianPackages } from "./sbom.ts";
import { settleFiles } from "./settle-files.ts";

const root = resolve(import.meta.dirname, "..");
const { version }: { version: string } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

/** What can be built, in order. */
const parts = { npm: buildPackages, chart: buildChart, deb: buildDeb, image: buildImage } as const;
type Part = keyof typeof parts;

try {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: Object.keys(parts).join(",") },
      output: { type: "string", default: join(root, `dist/release-${version}`) },
      bare: { type: "boolean", default: false },
    },
  });
  release(values.only.split(","), resolve(values.output), values.bare);
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** `isBare` means that the image starts from a Debian that is made here, not from a registry. */
function release(names: readonly string[], output: string, isBare: boolean): void {
  const unknown = names.find((name) => !isPart(name));
  if (unknown !== undefined) {
    const known = Object.keys(parts).join(", ");
    throw new Error(`--only takes ${known}, not ${JSON.stringify(unknown)}`);
  }
  const notes = releaseNotes();
  checkVersions();
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, "NOTES.md"), notes);
  const packages = runtimePackages(root, isShipped);
  const shipped = [...packages, ...shippedParts(root, packages), ...shippedModels(root)];
  const head = "Packages of npm, parts in their compiled files, and models:";
  writeFileSync(join(output, "licenses.txt"), `${head}\n\n${licenseReport(shipped)}`);
  const components = billOfMaterials(root, runtimePackages(root), []);
  writeFileSync(join(output, `hlust-${version}.cdx.json`), components);
  for (const name of names.filter(isPart)) parts[name](output, isBare);
  writeFileSync(join(output, "SHA256SUMS"), checksums(output));
  process.stdout.write(`${output}\n`);
}

function isPart(name: string): name is Part {
  return Object.hasOwn(parts, name);
}

/** Checks that the sources are those of the tag of this version, and that all versions agree. */
function checkVersions(): void {
  const tag = run("git", ["describe", "--tags", "--exact-match"]).trim();
  if (tag !== `v${version}`) {
    throw new Error(`the tag is ${tag}, and package.json has the version ${version}`);
  }
  const changed = run("git", ["status", "--porcelain", "--untracked-files=no"]);
  if (changed !== "") throw new Error(`files differ from the tag:\n${changed}`);
  const chart: { version: string; appVersion: string } = parse(
    readFileSync(join(root, "deploy/helm/hlust/Chart.yaml"), "utf8"),
  );
  for (const name of ["version", "appVersion"] as const) {
    if (chart[name] !== version) {
      throw new Error(`Chart.yaml has ${name} ${chart[name]}, and package.json ${version}`);
    }
  }
  for (const file of ["deploy/compose.yaml", "deploy/compose.cluster.yaml", "docs/install.md"]) {
    const images = readFileSync(join(root, file), "utf8").match(/\bhlust:\d[\w.-]*/g) ?? [];
    const other = images.find((image) => image !== `hlust:${version}`);
    if (images.length === 0) throw new Error(`${file} names no image with a version`);
    if (other) throw new Error(`${file} has ${other}, and package.json ${version}`);
  }
}

/** Returns the section of the changelog for this version. */
function releaseNotes(): string {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((section) => section.startsWith(`## ${version}\n`));
  if (found === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return found;
}

function buildPackages(output: string): void {
  const built = mkdtempSync(join(tmpdir(), "hlust-npm-"));
  run(process.execPath, [join(root, "script/npm-packages.ts"), built]);
  for (const name of readdirSync(built)) {
    run("npm", ["pack", join(built, name), "--ignore-scripts", "--pack-destination", output]);
  }
  rmSync(built, { recursive: true });
}

/** Packs the chart. Its file would have the name of the npm package hlust. */
function buildChart(output: string): void {
  const built = mkdtempSync(join(tmpdir(), "hlust-chart-"));
  const chart = join(built, "hlust");
  cpSync(join(root, "deploy/helm/hlust"), chart, { recursive: true });
  settleFiles(chart, Number(commitTime()));
  run(helmProgram(root), ["package", chart, "--destination", built]);
  cpSync(join(built, `hlust-${version}.tgz`), join(output, `hlust-chart-${version}.tgz`));
  rmSync(built, { recursive: true });
}

function buildDeb(output: string): void {
  const file = run(join(root, "script/deb"), []).trim().split("\n").at(-1) ?? "";
  cpSync(join(root, file), join(output, file.split("/").at(-1) ?? ""));
}

/**
 * Builds the image from the beginning, writes it as an archive that docker and podman load, and
 * adds its packages of Debian to the report of the licenses.
 */
function buildImage(output: string, isBare: boolean): void {
  const archive = join(output, `hlust-${version}-image.tar`);
  // Layers and bases that are kept may have packages of another day.
  const fresh = isBare ? "--no-cache" : "--no-cache --pull=true";
  const env = { BUILD_OPTIONS: `${process.env["BUILD_OPTIONS"] ?? ""} ${fresh}`.trim() };
  const from = isBare ? ["--bare"] : [];
  run(join(root, "script/image"), ["--archive", archive, ...from], env);
  const components = readFileSync(join(root, `dist/hlust-${version}.cdx.json`), "utf8");
  writeFileSync(join(output, `hlust-${version}-image.cdx.json`), components);
  const report = debianReport(listedDebianPackages(components));
  const head = "Packages of Debian in the image, with the source package of each:";
  appendFileSync(join(output, "licenses.txt"), `\n${head}\n\n${report}`);
}

function checksums(output: string): string {
  const lines = readdirSync(output)
    .toSorted()
    .map((name) => {
      const hash = createHash("sha256")
        .update(readFileSync(join(output, name)))
        .digest("hex");
      return `${hash}  ${name}\n`;
    });
  return lines.join("");
}

/** Runs a program in the project's folder. Returns its output. Throws if it fails. */
function run(command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): string {
  const env = { SOURCE_DATE_EPOCH: commitTime(), ...process.env, ...more };
  const options = { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 28 } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(" ")} failed:\n${stderr || stdout}`);
}

/**
 * Returns the time of the commit, in seconds since 1970. Archives take it, so that two builds have
 * the same bytes.
 */
function commitTime(): string {
  const { stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], {
    cwd: root,
    encoding: "utf8",
  });
  return stdout.trim();
}
