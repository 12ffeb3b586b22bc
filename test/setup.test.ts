// script/setup, which script/server and script/test run first.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
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
import { join, resolve } from "node:path";
import { test } from "node:test";
import { cpuSlowness } from "./fixtures/cpu-slowness.ts";
import { seedPostgres } from "./fixtures/seed-postgres.ts";
import { until } from "./fixtures/until.ts";

const root = resolve(import.meta.dirname, "..");
const setup = join(root, "script/setup");

test("setup takes under 1.5 s of CPU time if nothing has changed", (t) => {
  const stamp = join(root, "node_modules/.hlust-setup");
  if (!existsSync(stamp)) {
    t.skip("these node_modules were not installed by script/setup");
    return;
  }
  // Otherwise it would replace them under the tests that run.
  const wanted = spawnSync(
    "bash",
    ["-c", "cat package.json package-lock.json .npmrc | sha256sum"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  const isNew = readFileSync(stamp, "utf8").includes(wanted.stdout.trim());
  assert.ok(isNew, "package.json has changed: run script/setup --test first");
  for (const args of [[], ["--test"]]) {
    const timed = 'TIMEFORMAT="%U %S"; time "$@" 2>&1';
    const { status, stdout, stderr } = spawnSync("bash", ["-c", timed, "bash", setup, ...args], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
    const [user = NaN, system = NaN] = stderr.trim().split(" ").map(Number);
    assert.ok(user + system < 1.5 * cpuSlowness, `${user} s and ${system} s`);
  }
});

test("missing packages are named to users without root access, with the command that installs them", () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-dpkg-"));
  try {
    // A package database without installed packages.
    writeFileSync(join(folder, "status"), "");
    const asUser = process.getuid?.() === 0 ? ["unshare", "--user", "--map-user=1000"] : ["env"];
    const [program, ...args] = [...asUser, setup];
    const env = { PATH: "/usr/bin:/bin", DPKG_ADMINDIR: folder };
    const service = "ffmpeg bubblewrap bzip2 libpocketsphinx3 pocketsphinx-en-us";
    const tests = `${service} flite espeak-ng curl jq openssl chromium chromium-headless-shell swift-proxy swift-account swift-container swift-object faketime python3-requests python3-websockets python3-grpcio protobuf-compiler-grpc libprotobuf-dev haproxy nginx-light caddy pgbouncer postgresql-15 prometheus`;
    for (const [packages, ...more] of [[service], [tests, "--test"]] as const) {
      const options = { encoding: "utf8", env } as const;
      const { status, stderr } = spawnSync(program, [...args, ...more], options);
      assert.equal(status, 1);
      assert.match(stderr, /only root can install them/);
      const command = `apt-get install --no-install-recommends ${packages}\n`;
      assert.ok(stderr.includes(command), stderr);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/**
 * Copies the committed files and the packages that are installed here, without the files that setup
 * generates from them.
 */
function copyProject(to: string): void {
  for (const name of ["bin", "models", "script", "src", "package.json", "package-lock.json"]) {
    cpSync(join(root, name), join(to, name), { recursive: true });
  }
  mkdirSync(join(to, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name === ".cache") continue;
    symlinkSync(join(root, "node_modules", name), join(to, "node_modules", name));
  }
}

const isRoot = process.geteuid?.() === 0;

test(
  "an installation by root with a closed umask runs as another user",
  { skip: !isRoot && "the test does not run as root, so it cannot run as another user" },
  async () => {
    const otherUser = 65_534;
    const folder = mkdtempSync(join(tmpdir(), "hlust-other-user-"));
    try {
      chmodSync(folder, 0o755);
      const [project, data] = [join(folder, "project"), join(folder, "data")];
      mkdirSync(project);
      copyProject(project);
      const bundling = `umask 077; exec "${process.execPath}" "${project}/script/bundle-packages.ts"`;
      const bundled = spawnSync("/bin/sh", ["-c", bundling], { encoding: "utf8" });
      assert.equal(bundled.status, 0, bundled.stderr);
      const asOtherUser = [`--reuid=${otherUser}`, `--regid=${otherUser}`, "--clear-groups"];
      const bundles = join(project, "node_modules/.cache");
      const closed = spawnSync("setpriv", [...asOtherUser, "find", bundles, "-not", "-readable"]);
      assert.equal(`${closed.stdout.toString()}${closed.stderr.toString()}`, "");
      await seedPostgres(join(data, "postgres"));
      spawnSync("chown", ["-R", `${otherUser}:${otherUser}`, data]);

      const child = spawn("setpriv", [...asOtherUser, join(project, "bin/hlust"), "serve"], {
        cwd: "/",
        env: {
          PATH: process.env["PATH"],
          HLUST_PORT: "0",
          HLUST_DATA: data,
          HLUST_ENGINE: "scripted",
          HLUST_ENGINE_PROCESSES: "1",
          HLUST_FRONT_PROCESSES: "1",
        },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const exited = once(child, "exit");
      const said = { out: "", errors: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said.errors += text));
      const ready = /^hlust: ready at (\S+)$/m;
      try {
        await until(async () => {
          assert.equal(child.exitCode, null, said.errors);
          return ready.test(said.out);
        }, 60_000);
        const [, address = ""] = ready.exec(said.out) ?? [];
        assert.equal((await fetch(`${address}/readyz`)).status, 200);
      } finally {
        child.kill("SIGTERM");
        await exited;
      }
      for (const line of said.errors.trimEnd().split("\n")) {
        assert.match(
          line,
          /^\{"level":"info",|"event":"engine\.scripted"/,
          "no warning except about the scripted engine",
        );
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
