// Builds all that a release ships into a folder, from a tag, and publishes nothing: see
// docs/releasing.md. Usage: node script/release.ts [--only PARTS] [--output FOLDER]
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
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
import { isShipped, licenseReport, shippedModels } from "./licenses.ts";
import { runtimePackages } from "./runtime-packages.ts";
import { billOfMaterials } from "./sbom.ts";
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
    },
  });
  release(values.only.split(","), resolve(values.output));
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function release(names: readonly string[], output: string): void {
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
  const shipped = [...runtimePackages(root, isShipped), ...shippedModels(root)];
  writeFileSync(join(output, "licenses.txt"), licenseReport(shipped));
  const components = billOfMaterials(root, runtimePackages(root), "");
  writeFileSync(join(output, `hlust-${version}.cdx.json`), components);
  for (const name of names.filter(isPart)) parts[name](output);
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

/** Builds the image, and writes it as an archive that docker and podman load. */
function buildImage(output: string): void {
  run(join(root, "script/image"), []);
  const engine = ["podman", "docker"].find((name) => spawnSync(name, ["--version"]).status === 0);
  if (engine === undefined) throw new Error("podman or docker is needed to write the image");
  const file = join(output, `hlust-${version}-image.tar`);
  run(engine, ["save", "--output", file, `hlust:${version}`]);
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
function run(command: string, args: readonly string[]): string {
  const env = { SOURCE_DATE_EPOCH: commitTime(), ...process.env };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, env, encoding: "utf8" });
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
