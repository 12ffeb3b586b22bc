// A whole release, as docs/releasing.md makes it: from a tag, in a new clone, with all parts.
import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { allowedOfDebian } from "../../script/debian-allowed.ts";
import { reviewedCopyrights } from "../../script/debian-reviewed.ts";
import { licenseNames } from "../../script/licenses.ts";
import { listedDebianPackages } from "../../script/sbom.ts";
import { openContainers, whyNoContainers, type Containers } from "./containers.ts";

const root = resolve(import.meta.dirname, "../..");
const version = "0.1.0";
const skip = (await whyNoContainers()) ?? false;

/** Part of a CycloneDX document. */
interface Component {
  readonly name: string;
  readonly purl: string;
  readonly licenses: readonly { readonly expression: string }[];
}

describe("a whole release", { skip, timeout: 3_600_000 }, () => {
  let containers: Containers;
  let output: string;
  const inOutput = (name: string): string => join(output, name);
  const text = (name: string): string => readFileSync(inOutput(name), "utf8");
  const components = (name: string): readonly Component[] => {
    const document: { bomFormat: string; components: Component[] } = JSON.parse(text(name));
    assert.equal(document.bomFormat, "CycloneDX");
    return document.components;
  };
  /** Runs a program and returns its standard output. */
  const run = async (command: string, ...args: string[]): Promise<string> => {
    const options = { maxBuffer: 1e8, env: containers.building } as const;
    return (await promisify(execFile)(command, args, options)).stdout;
  };

  before(async () => {
    // Everything is built, also what an earlier run has kept.
    containers = openContainers({ isFresh: true });
    const clone = join(containers.folder, "clone");
    output = join(containers.folder, "release");
    await run("git", "clone", "--quiet", root, clone);
    const git = ["-C", clone, "-c", "user.name=Test", "-c", "user.email=test@example.org"];
    await run("sed", "-i", `s/^## Unreleased$/## ${version}/`, join(clone, "CHANGELOG.md"));
    await run("git", ...git, "commit", "--quiet", "-am", version);
    await run("git", ...git, "tag", "-a", `v${version}`, "-m", version);
    // The packages of npm are those of this folder; links are quick.
    const [from, to] = [join(root, "node_modules"), join(clone, "node_modules")];
    await run("sh", "-c", `cp -al ${from} ${to} || cp -a ${from} ${to}; rm -rf ${to}/.cache`);
    await run(join(clone, "script/setup"), "--packages");
    await run(join(clone, "script/release"), "--bare", "--output", output);
  });
  after(async () => await containers?.[Symbol.asyncDispose]());

  test("has all files, with their checksums", async () => {
    const architecture = (await run("dpkg", "--print-architecture")).trim();
    const files = [
      "NOTES.md",
      `hlust-${version}-image.cdx.json`,
      `hlust-${version}-image.tar`,
      `hlust-${version}.cdx.json`,
      `hlust-${version}.tgz`,
      `hlust-chart-${version}.tgz`,
      `hlust-client-${version}.tgz`,
      `hlust_${version}_${architecture}.deb`,
      `http-transcoding-${version}.tgz`,
      "licenses.txt",
    ];
    assert.deepEqual(readdirSync(output).toSorted(), ["NOTES.md", "SHA256SUMS", ...files.slice(1)]);
    const sums = text("SHA256SUMS").trim().split("\n");
    assert.deepEqual(
      sums.map((line) => line.replace(/^[0-9a-f]{64} {2}/, "")),
      files,
    );
    assert.equal(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: output }).status, 0);
    assert.match(text("NOTES.md"), new RegExp(`^## ${version}\n\n\\S`));
  });

  test("has packages of npm and a chart of its version", async () => {
    for (const name of ["hlust", "hlust-client", "http-transcoding"]) {
      const file = inOutput(`${name}-${version}.tgz`);
      const manifest = await run(
        "tar",
        "--extract",
        "--to-stdout",
        "-f",
        file,
        "package/package.json",
      );
      const { name: named, version: its }: { name: string; version: string } = JSON.parse(manifest);
      assert.deepEqual([named, its], [name, version]);
    }
    const chart = inOutput(`hlust-chart-${version}.tgz`);
    const values = await run("tar", "--extract", "--to-stdout", "-f", chart, "hlust/Chart.yaml");
    assert.match(values, new RegExp(`^appVersion: "?${version.replaceAll(".", "\\.")}"?$`, "m"));
  });

  test("has a Debian package that names the license of all that is in it", async () => {
    const file = readdirSync(output).find((name) => name.endsWith(".deb")) ?? "";
    assert.equal((await run("dpkg-deb", "--field", inOutput(file), "Version")).trim(), version);
    const unpacked = join(containers.folder, "unpacked");
    await run("dpkg-deb", "--extract", inOutput(file), unpacked);
    const documents = join(unpacked, "usr/share/doc/hlust");
    const copyright = readFileSync(join(documents, "copyright"), "utf8");
    for (const part of [/^ node-linux-\w+ [\d.]+: MIT$/m, /^ {2}PostgreSQL 18\.4: PostgreSQL$/m]) {
      assert.match(copyright, part);
    }
    assert.doesNotMatch(copyright, /see its folder/);
    // Node's own parts are in its own file.
    const node = join(unpacked, "usr/lib/hlust/node_modules", `node-linux-${process.arch}`);
    assert.match(readFileSync(join(node, "LICENSE"), "utf8"), /^- V8, located at /m);
    const list = readFileSync(join(documents, "sbom.cdx.json"), "utf8");
    assert.equal(list, text(`hlust-${version}.cdx.json`));
  });

  test("has an image that starts from its archive, with the list of parts that is in it", async () => {
    const archive = inOutput(`hlust-${version}-image.tar`);
    assert.ok(statSync(archive).size > 300e6);
    await containers.podman("rmi", "--all", "--force");
    await containers.podman("load", "--quiet", "--input", archive);
    const tag = `localhost/hlust:${version}`;
    assert.match(await containers.runOnce(tag, ["hlust", "version"]), /^hlust 0\.1\.0/);
    const list = await containers.runOnce(tag, ["cat", "/opt/hlust/sbom.cdx.json"]);
    assert.equal(`${list}\n`, text(`hlust-${version}-image.cdx.json`));
    // The list has exactly what dpkg knows, and each package has the text of its license.
    const query = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}\n"];
    const installed = (await containers.runOnce(tag, query)).split("\n");
    const listed = components(`hlust-${version}-image.cdx.json`)
      .filter(({ purl }) => purl.startsWith("pkg:deb/"))
      .map(({ purl }) => /debian\/(.+)@(.+)\?/.exec(purl)?.slice(1) ?? [])
      .map(([name = "", its = ""]) => `${name} ${decodeURIComponent(its)}`);
    assert.deepEqual(listed.toSorted(), installed.toSorted());
    const names = installed.map((line) => line.split(" ")[0]);
    const look = `for name in ${names.join(" ")}; do
      [ -s /usr/share/doc/$name/copyright ] || echo $name; done`;
    assert.equal(await containers.runOnce(tag, ["sh", "-c", look]), "");
  });

  test("has a report with a license for all that its lists have", () => {
    const report = text("licenses.txt");
    const lists = [`hlust-${version}.cdx.json`, `hlust-${version}-image.cdx.json`];
    const parts = lists.flatMap((name) => components(name));
    assert.ok(parts.length > 400, `${parts.length}`);
    for (const { name, purl, licenses } of parts) {
      const its = decodeURIComponent(/@([^@?]+)(?:\?.*)?$/.exec(purl)?.[1] ?? "");
      const line = `\n${licenses[0]?.expression}  ${name} ${its}`;
      assert.ok(report.includes(`${line}\n`) || report.includes(`${line} (source: `), line);
    }
    const pattern = /^[^\n]*GPL-2\.0-or-later[^\n]* {2}bubblewrap \S+ \(source: bubblewrap \S+\)$/m;
    assert.match(report, pattern);
  });

  test("lists no license of Debian that no package of the image has", () => {
    const used = new Set(
      components(`hlust-${version}-image.cdx.json`).flatMap(({ licenses }) =>
        licenses.flatMap(({ expression }) => licenseNames(expression)),
      ),
    );
    assert.deepEqual(
      [...allowedOfDebian].filter((name) => !used.has(name)),
      [],
    );
    const listed = listedDebianPackages(text(`hlust-${version}-image.cdx.json`));
    const sources = new Set(listed.map(({ source }) => source.split(" ")[0]));
    const read = [...reviewedCopyrights.values()].map(({ source }) => source);
    assert.deepEqual(
      read.filter((source) => !sources.has(source)),
      [],
    );
  });
});
