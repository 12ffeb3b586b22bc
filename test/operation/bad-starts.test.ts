// A start that cannot work says in one line what is wrong and what to do.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";

const hlust = resolve(import.meta.dirname, "../../bin/hlust");
const isRoot = process.geteuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), "hlust-bad-starts-"));
const data = join(folder, "data");

before(async () => {
  chmodSync(folder, 0o755);
  await seedPostgres(join(data, "postgres"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the service with a command in front of it, and returns its exit code and messages. */
async function start(
  before: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: unknown; said: string[] }> {
  const [program, ...parameters] = [...before, hlust, "serve"] as const;
  const child = spawn(program, parameters, {
    cwd: "/",
    env: {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: data,
      HLUST_ENGINE: "scripted",
      HLUST_FRONT_PROCESSES: "1",
      ...environment,
    },
    stdio: ["ignore", "ignore", "pipe"],
    // Only ends a start that works, which fails the test.
    timeout: 60_000,
  });
  const exited = once(child, "exit");
  const lines = (await text(child.stderr)).trimEnd().split("\n");
  const [code]: unknown[] = await exited;
  return { code, said: lines.filter((line) => !line.startsWith("{")) };
}

/** Returns the start of a command that runs a shell's setup in a mount namespace first. */
function prepared(setup: string): string[] {
  const shell = ["sh", "-euc", `${setup}; exec "$@"`, "sh"];
  return ["unshare", "--user", "--map-root-user", "--mount", ...shell];
}

test("a port that is taken is named with the setting that changes it", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address);
  try {
    const port = String(address.port);
    const why = `port ${port} of 127.0.0.1 is taken by another program (or another Hlust): stop it, or set HLUST_PORT`;
    assert.deepEqual(await start([], { HLUST_PORT: port }), { code: 1, said: [`hlust: ${why}`] });
  } finally {
    server.close();
  }
});

test("an address of another machine is named with the setting that changes it", async () => {
  const why =
    "192.0.2.1 is not an address of this machine: set HLUST_HOST to one, or to 0.0.0.0 for all";
  const result = await start([], { HLUST_HOST: "192.0.2.1" });
  assert.deepEqual(result, { code: 1, said: [`hlust: ${why}`] });
});

test("without shared memory the service starts nevertheless", async () => {
  // /dev/shm is missing, or too small.
  for (const options of ["-o ro", "-o size=8k"]) {
    const setup = prepared(`mount -t tmpfs ${options} none /dev/shm`);
    const [program = "", ...parameters]: string[] = [...setup, hlust, "serve"];
    const child = spawn(program, parameters, {
      cwd: "/",
      env: {
        PATH: process.env["PATH"],
        HLUST_PORT: "0",
        HLUST_DATA: data,
        HLUST_ENGINE: "scripted",
        HLUST_FRONT_PROCESSES: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    }
    try {
      await until(async () => /^hlust: ready at/m.test(said) || child.exitCode !== null, 120_000);
      assert.match(said, /^hlust: ready at/m);
      assert.match(said, /"event":"database.no_shared_memory"/);
    } finally {
      child.kill("SIGTERM");
      await exited;
    }
  }
});

test("without namespaces the start names what allows them, and the setting that does without", async () => {
  // The second namespace, that of an ordinary user, is the last that may be made.
  const setup = prepared("echo 1 >/proc/sys/user/max_user_namespaces");
  const asUser = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];
  const { code, said } = await start([...setup, ...asUser]);
  assert.equal(code, 1);
  assert.equal(said.length, 1, said.join("\n"));
  assert.match(
    said[0] ?? "",
    /^hlust: media would be decoded without a sandbox, as the user who owns all data, since bubblewrap does not work here \(bwrap: .+\)\. Allow user namespaces .*, or set HLUST_SANDBOX=reduced to accept this\.$/,
  );
});

test("a read-only volume is reported as such", async () => {
  const mount = join(folder, "read-only");
  mkdirSync(mount);
  const setup = prepared(`mount -t tmpfs -o ro none ${mount}`);
  const why = `HLUST_DATA=${mount} cannot be used: it is on a read-only file system; mount it for writing, or choose another folder`;
  const result = await start(setup, { HLUST_DATA: mount });
  assert.deepEqual(result, { code: 1, said: [`hlust: ${why}`] });
});

test(
  "a volume of another user is reported with the command that gives it to the service",
  { skip: !isRoot && "the test does not run as root, so it cannot run as another user" },
  async () => {
    const volume = join(folder, "of-root");
    mkdirSync(volume, { mode: 0o755 });
    const asOther = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const why =
      `HLUST_DATA=${volume} cannot be used: it belongs to user 0, and the service runs as user 65534; ` +
      `run it as user 0, or give the folder to this one: chown -R 65534 ${volume}`;
    const result = await start(asOther, { HLUST_DATA: volume });
    assert.deepEqual(result, { code: 1, said: [`hlust: ${why}`] });
  },
);

test("a Node for another architecture is not run, and the missing one is named", async () => {
  const programs = join(folder, "arm64");
  mkdirSync(programs);
  writeFileSync(join(programs, "uname"), "#!/bin/sh\necho aarch64\n", { mode: 0o755 });
  for (const name of ["dirname", "readlink", "sh"])
    symlinkSync(`/usr/bin/${name}`, join(programs, name));
  const root = resolve(hlust, "../..");
  const why = `its Node for this machine (aarch64) is not installed: run script/server in ${root}, or npm ci there`;
  const result = await start([], { PATH: programs });
  assert.deepEqual(result, { code: 1, said: [`hlust: ${why}`] });
});

test("a kernel that is too old is named, and one that is just new enough is not", async () => {
  const old = await start(["setarch", "--uname-2.6"]);
  assert.equal(old.code, 1);
  assert.equal(old.said.length, 1);
  const why =
    /^hlust: this machine has Linux 2\.6\.\S+, and Hlust needs Linux 4\.18 or later: update the system, /;
  assert.match(old.said[0] ?? "", why);
  const programs = join(folder, "kernels");
  mkdirSync(programs);
  for (const name of ["dirname", "readlink", "sh"])
    symlinkSync(`/usr/bin/${name}`, join(programs, name));
  for (const [release, isTooOld] of [
    ["3.10.0-1160.el7", true],
    ["4.9.0-19-amd64", true],
    ["4.9-rc1", true],
    ["4.17.19", true],
    ["4.18.0-553.el8", false],
    ["4.19.0", false],
    ["5.4.0", false],
    ["40.1.0", false],
  ] as const) {
    // No processor of this name has a Node, so that nothing is started.
    const answer = `case $1 in -m) echo none ;; *) echo "Linux ${release}" ;; esac`;
    writeFileSync(join(programs, "uname"), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
    const { code, said } = await start([], { PATH: programs });
    assert.equal(code, 1);
    assert.equal(/needs Linux 4\.18/.test(said[0] ?? ""), isTooOld, `${release}: ${said[0]}`);
  }
});
