// script/release, in a copy of this project that has a tag.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { licenseReport } from "../../script/licenses.ts";

const root = resolve(import.meta.dirname, "../..");
const isCheckout = git(root, "rev-parse", "HEAD").status === 0;
const version = "0.1.0";

function git(folder: string, ...args: string[]) {
  return spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
}

describe("script/release", { skip: !isCheckout && "this is not a checkout" }, () => {
  let folder: string;
  let copy: string;
  const edit = (file: string, from: string, to: string): void => {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    assert.ok(text.includes(from), file);
    rmSync(path);
    appendFileSync(path, text.replace(from, to));
  };
  const commit = (message: string): void => {
    const person = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
    const { status, stderr } = git(copy, ...person, "commit", "--quiet", "-am", message);
    assert.equal(status, 0, stderr);
  };
  const release = (...args: string[]) =>
    spawnSync(join(copy, "script/release"), args, { encoding: "utf8" });

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "hlust-release-"));
    copy = join(folder, "copy");
    assert.equal(git(root, "clone", "--quiet", root, copy).status, 0);
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  });
  after(() => rmSync(folder, { recursive: true }));

  test("needs a section of the changelog, then a tag of the version, then files of the tag", () => {
    const refused = (problem: RegExp): void => {
      const { status, stderr } = release("--only", "npm");
      assert.equal(status, 1);
      assert.match(stderr, problem);
    };
    refused(/CHANGELOG\.md has no section "## 0\.1\.0"/);
    edit("CHANGELOG.md", "## Unreleased\n", `## ${version}\n`);
    commit("changelog: 0.1.0");
    refused(/no tag exactly matches|No tags can describe|no names found/i);
    git(copy, "tag", "v0.0.9");
    refused(/the tag is v0\.0\.9, and package\.json has the version 0\.1\.0/);
    git(copy, "tag", "--delete", "v0.0.9");
    git(copy, "tag", `v${version}`);
    appendFileSync(join(copy, "README.md"), "more\n");
    refused(/files differ from the tag:\n M README\.md/);
    git(copy, "checkout", "--quiet", "README.md");
    assert.match(release("--only", "npm,rpm").stderr, /--only takes npm, .*, not "rpm"/);
  });

  test("gives the same bytes twice: packages, chart, lists and checksums", () => {
    const outputs = ["one", "two"].map((name) => join(folder, name));
    for (const output of outputs) {
      const { status, stderr } = release("--only", "npm,chart", "--output", output);
      assert.equal(status, 0, stderr);
    }
    const [one = "", two = ""] = outputs;
    assert.deepEqual(readdirSync(one).toSorted(), [
      "NOTES.md",
      "SHA256SUMS",
      `hlust-${version}.cdx.json`,
      `hlust-${version}.tgz`,
      `hlust-chart-${version}.tgz`,
      `hlust-client-${version}.tgz`,
      `http-transcoding-${version}.tgz`,
      "licenses.txt",
    ]);
    const sums = readFileSync(join(one, "SHA256SUMS"), "utf8");
    assert.equal(readFileSync(join(two, "SHA256SUMS"), "utf8"), sums);
    assert.equal(spawnSync("sha256sum", ["--check", "SHA256SUMS"], { cwd: two }).status, 0);
    assert.match(readFileSync(join(one, "NOTES.md"), "utf8"), /^## 0\.1\.0\n/);
    assert.match(readFileSync(join(one, "licenses.txt"), "utf8"), /^MIT {2}react /m);
  });

  test("needs the same version in the chart", () => {
    edit("deploy/helm/hlust/Chart.yaml", "\nversion: 0.1.0", "\nversion: 0.2.0");
    commit("chart: 0.2.0");
    git(copy, "tag", "--force", `v${version}`);
    const { status, stderr } = release("--only", "chart");
    assert.equal(status, 1);
    assert.match(stderr, /Chart\.yaml has version 0\.2\.0, and package\.json 0\.1\.0/);
  });
});

test("a license that is not listed, or missing, is refused with the name of the package", () => {
  const one = (name: string, license: string) => ({ name, version: "1.0.0", license, path: name });
  const good = [one("a", "MIT"), one("b", "(MIT OR GPL-3.0)"), one("c", "Apache-2.0 AND ISC")];
  assert.equal(
    licenseReport(good),
    "(MIT OR GPL-3.0)  b 1.0.0\nApache-2.0 AND ISC  c 1.0.0\nMIT  a 1.0.0\n",
  );
  const bad = [...good, one("d", "GPL-3.0"), one("e", ""), one("f", "MIT AND AGPL-3.0")];
  assert.throws(() => licenseReport(bad), {
    message:
      "not in the list of script/licenses.ts:\n" +
      "  d 1.0.0: GPL-3.0\n  e 1.0.0: names no license\n  f 1.0.0: MIT AND AGPL-3.0",
  });
});
