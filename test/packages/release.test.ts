// script/release, in copies of this project that have a tag.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const isCheckout = git(root, "rev-parse", "HEAD").status === 0;
const version = "0.1.0";
const isQuick = process.env["PACKAGES"] !== "all";

function git(folder: string, ...args: string[]) {
  return spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
}

/** A machine that is set up otherwise, where only the user may read files. */
const elsewhere = { umask: "077", env: { TZ: "Asia/Tokyo", LC_ALL: "C" } };

/** Runs a program of a copy in another folder. */
function run(
  copy: string,
  program: string,
  args: readonly string[],
  { umask = "022", env = {} } = {},
) {
  const command = ["-c", `umask ${umask}; exec "$@"`, "sh", join(copy, program), ...args];
  const options = { cwd: "/", env: { ...process.env, ...env }, encoding: "utf8" } as const;
  return spawnSync("sh", command, options);
}

/** Returns the fields and the files of a Debian package, with modes, times and sizes. */
function listed(file: string): string {
  const shell =
    'dpkg-deb --info "$1"; dpkg-deb --fsys-tarfile "$1" | tar --list --verbose --full-time';
  const options = { encoding: "utf8", maxBuffer: 1 << 26 } as const;
  return spawnSync("sh", ["-c", shell, "sh", file], options).stdout;
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
  const release = (...args: string[]) => run(copy, "script/release", args);

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

  /** Clones the copy into a deeper folder, as a user whose files only it may read. */
  const cloneAgain = (): string => {
    const other = join(folder, "a/deeper/folder/again");
    mkdirSync(dirname(other), { recursive: true });
    const clone = `umask 077; git clone --quiet ${copy} ${other}`;
    const { status, stderr } = spawnSync("sh", ["-euc", clone], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return other;
  };

  test("gives the same bytes from two clones: packages, chart, lists and checksums", () => {
    const other = cloneAgain();
    symlinkSync(join(root, "node_modules"), join(other, "node_modules"));
    const outputs = ["one", "two"].map((name) => join(folder, name));
    for (const [at, output] of outputs.entries()) {
      const args = ["--only", "npm,chart", "--output", output];
      const { status, stderr } =
        at === 0 ? release(...args) : run(other, "script/release", args, elsewhere);
      assert.equal(status, 0, stderr);
    }
    rmSync(join(folder, "a"), { recursive: true });
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
    const licenses = readFileSync(join(one, "licenses.txt"), "utf8");
    assert.match(licenses, /^MIT {2}react /m);
    assert.match(licenses, /^Apache-2\.0 {2}is-IS-starter \(model\) \d+$/m);
    assert.match(licenses, /^BSD-3-Clause {2}V8 in node-linux-\w+ [\d.]+$/m);
  });

  test(
    "gives the same bytes from two clones: the Debian package, with its console and bundles",
    { skip: isQuick && "it takes minutes: npm run test:packages" },
    () => {
      const other = cloneAgain();
      rmSync(join(copy, "node_modules"));
      const temporary = mkdtempSync("/dev/shm/hlust-release-");
      const env = { ...elsewhere.env, TMPDIR: temporary };
      const [one, two] = [{}, { umask: elsewhere.umask, env }].map((machine, at) => {
        const clone = at === 0 ? copy : other;
        const modules = join(clone, "node_modules");
        // Links are quick; a copy is needed if the temporary folder is on another disk.
        const copying = `cp -al ${root}/node_modules ${modules} || cp -a ${root}/node_modules ${modules}`;
        assert.equal(spawnSync("sh", ["-c", `${copying}; rm -rf ${modules}/.cache`]).status, 0);
        for (const script of ["script/bundle-packages.ts", "script/build-console.ts"]) {
          const args = [join(clone, script)];
          const { status, stderr } = run(clone, "node_modules/.bin/node", args, machine);
          assert.equal(status, 0, stderr);
        }
        const { status, stdout, stderr } = run(clone, "script/deb", ["--fast"], machine);
        assert.equal(status, 0, stderr);
        return join(clone, stdout.trim());
      });
      rmSync(temporary, { recursive: true });
      // What differs is easier to find here than in the bytes.
      const [contents, otherContents] = [one, two].map((file) => listed(file ?? ""));
      assert.equal(otherContents, contents);
      const bytes = readFileSync(one ?? "");
      assert.ok(bytes.length > 50_000_000);
      assert.ok(bytes.equals(readFileSync(two ?? "")));
    },
  );

  test("builds the image without layers and bases of an earlier day", () => {
    // This engine only writes down how it is called.
    const engines = join(folder, "engines");
    const calls = join(folder, "calls");
    mkdirSync(engines);
    const script = `#!/bin/sh\necho "$*" >>${calls}\nexit 3\n`;
    writeFileSync(join(engines, "buildah"), script, { mode: 0o755 });
    const env = { PATH: `${engines}:${process.env["PATH"]}`, BUILD_OPTIONS: "--network host" };
    const args = ["--only", "image", "--output", join(folder, "image")];
    const { status, stderr } = run(copy, "script/release", args, { env });
    assert.equal(status, 1);
    assert.match(stderr, /script\/image --archive \S+\/hlust-0\.1\.0-image\.tar failed/);
    assert.match(
      readFileSync(calls, "utf8"),
      /^build .*--tag hlust:0\.1\.0 .*--network host --no-cache --pull=true \.\n$/,
    );
  });

  test("ships nothing with a license that is not listed", () => {
    edit("script/licenses.ts", '  "ISC",\n', "");
    commit("licenses: without ISC");
    git(copy, "tag", "--force", `v${version}`);
    const output = join(folder, "unlisted");
    const { status, stderr } = release("--only", "chart", "--output", output);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^release: not in the list of script\/licenses\.ts:\n(?: {2}\S.* [\w.-]+: ISC\n)+$/,
    );
    assert.equal(existsSync(join(output, "SHA256SUMS")), false);
    edit("script/licenses.ts", '  "MIT",\n', '  "ISC",\n  "MIT",\n');
  });

  test("needs the same version in the chart, the compose files and the guide", () => {
    edit("deploy/helm/hlust/Chart.yaml", "\nversion: 0.1.0", "\nversion: 0.2.0");
    commit("chart: 0.2.0");
    git(copy, "tag", "--force", `v${version}`);
    const { status, stderr } = release("--only", "chart");
    assert.equal(status, 1);
    assert.match(stderr, /Chart\.yaml has version 0\.2\.0, and package\.json 0\.1\.0/);
    edit("deploy/helm/hlust/Chart.yaml", "\nversion: 0.2.0", "\nversion: 0.1.0");
    for (const file of ["deploy/compose.yaml", "deploy/compose.cluster.yaml", "docs/install.md"]) {
      edit(file, "hlust:0.1.0", "hlust:0.0.9");
      commit(`${file}: 0.0.9`);
      git(copy, "tag", "--force", `v${version}`);
      const other = release("--only", "chart");
      assert.equal(other.status, 1);
      assert.ok(
        other.stderr.includes(`${file} has hlust:0.0.9, and package.json 0.1.0`),
        other.stderr,
      );
      edit(file, "hlust:0.0.9", "hlust:0.1.0");
    }
  });
});
