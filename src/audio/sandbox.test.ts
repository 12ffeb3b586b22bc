import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { until } from "../../test/fixtures/until.ts";
import { createLog } from "../std/log.ts";
import { chooseSandbox, sandboxKinds, type Sandbox, type SandboxEnd } from "./sandbox.ts";

const log = createLog("silent");
let folder = "";
let file = "";
let secret = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-sandbox-test-"));
  file = join(folder, "media");
  secret = join(folder, "secret");
  await writeFile(file, Buffer.alloc(64_000, 1), { mode: 0o644 });
  await writeFile(secret, "the other tenant's recording", { mode: 0o600 });
});

after(() => rm(folder, { recursive: true, force: true }));

interface Result extends SandboxEnd {
  readonly output: Buffer;
}

async function ffmpeg(
  sandbox: Sandbox,
  parameters: (file: string) => readonly string[],
): Promise<Result> {
  const before = ["-nostdin", "-v", "error"];
  await using run = await sandbox.start({
    program: "ffmpeg",
    parameters: (path) => [...before, ...parameters(path)],
    file,
    cpuSecondsMax: 10,
  });
  const chunks: Buffer[] = [];
  for await (const chunk of run.stdout as AsyncIterable<Buffer>) chunks.push(chunk);
  return { ...(await run.ended), output: Buffer.concat(chunks) };
}

/** Returns the nice value of a process: 0 by default, 19 for the lowest priority. */
async function nicenessOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

/** Returns the parameters that print the bytes of a file, if the program may read it. */
function bytesOf(path: string): string[] {
  return ["-f", "s8", "-i", path, "-f", "s8", "-c", "copy", "-"];
}

for (const kind of sandboxKinds) {
  test(`chooseSandbox() returns a sandbox that can read the file: ${kind}`, async () => {
    const sandbox = await chooseSandbox(kind, log);
    assert.equal(sandbox.kind, kind);
    const { status, output } = await ffmpeg(sandbox, (path) => bytesOf(`file:${path}`));
    assert.equal(status, 0);
    assert.equal(output.length, 64_000);
  });

  test(`a low-priority program runs with nice 19: ${kind}`, async () => {
    const sandbox = await chooseSandbox(kind, log);
    for (const isLowPriority of [false, true]) {
      await using run = await sandbox.start({
        program: "ffmpeg",
        // The program runs until it is ended, since its output is not read.
        parameters: (path) => [
          "-nostdin",
          "-re",
          "-f",
          "s8",
          "-i",
          `file:${path}`,
          "-f",
          "s8",
          "-",
        ],
        file,
        cpuSecondsMax: 10,
        isLowPriority,
      });
      if (isLowPriority) await until(async () => (await nicenessOf(run.pid)) === 19);
      else assert.equal(await nicenessOf(run.pid), 0);
    }
  });

  test(`the sandbox hides everything but the file from the program: ${kind}`, async (context) => {
    const sandbox = await chooseSandbox(kind, log);
    const environment = await ffmpeg(sandbox, () => bytesOf("file:/proc/self/environ"));
    assert.equal(environment.output.toString().includes("PATH="), false);
    if (kind === "reduced" && process.getuid?.() !== 0) {
      return context.skip("without root the reduced sandbox has no other user");
    }
    for (const path of [secret, `/proc/${process.pid}/environ`]) {
      const { status, output } = await ffmpeg(sandbox, () => bytesOf(`file:${path}`));
      assert.notEqual(status, 0, path);
      assert.equal(output.length, 0, path);
    }
    const target = join(folder, "written");
    await ffmpeg(sandbox, (path) => [...bytesOf(`file:${path}`).slice(0, -1), "-y", target]);
    await assert.rejects(stat(target));
  });

  test(`the sandbox stops a program at its limits: ${kind}`, async () => {
    const sandbox = await chooseSandbox(kind, log);
    const source = ["-f", "lavfi", "-i", "anoisesrc", "-f", "null", "-"];
    await using run = await sandbox.start({
      program: "ffmpeg",
      parameters: () => ["-nostdin", "-v", "error", ...source],
      file,
      cpuSecondsMax: 1,
    });
    assert.ok((await run.ended).status > 128);
  });

  test(`no program outlives the sandbox or the service: ${kind}`, async () => {
    const sandbox = await chooseSandbox(kind, log);
    // The program is killed immediately, during its start, or while it runs.
    for (const afterMs of [0, 0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 200]) {
      const mark = randomUUID();
      const abort = new AbortController();
      const run = await sandbox.start({
        program: "ffmpeg",
        parameters: () => endless(mark),
        file,
        cpuSecondsMax: 60,
        signal: abort.signal,
      });
      await sleep(afterMs);
      abort.abort();
      await run.ended;
      await run[Symbol.asyncDispose]();
      assert.equal(await countOf(mark), 0, `after ${afterMs} ms`);
    }
    const orphan = randomUUID();
    const script = `
      const { chooseSandbox } = await import(${JSON.stringify(import.meta.resolve("./sandbox.ts"))});
      const { createLog } = await import(${JSON.stringify(import.meta.resolve("../std/log.ts"))});
      const sandbox = await chooseSandbox(${JSON.stringify(kind)}, createLog("silent"));
      const parameters = () => ${JSON.stringify(endless(orphan))};
      await sandbox.start({ program: "ffmpeg", parameters, file: ${JSON.stringify(file)}, cpuSecondsMax: 60 });
      setInterval(() => {}, 1000);`;
    const service = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: "inherit",
    });
    await until(async () => (await countOf(orphan, "ffmpeg")) > 0);
    service.kill("SIGKILL");
    await until(async () => (await countOf(orphan, "ffmpeg")) === 0);
  });
}

for (const kind of ["bubblewrap", "bubblewrap-without-proc"] as const) {
  test(`a program in bubblewrap has no network: ${kind}`, async () => {
    const sandbox = await chooseSandbox(kind, log);
    let canary = 0;
    const server = createServer((socket) => {
      canary++;
      socket.end("secret");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    try {
      const { status } = await ffmpeg(sandbox, () => bytesOf(`tcp://127.0.0.1:${address.port}`));
      assert.notEqual(status, 0);
      assert.equal(canary, 0);
    } finally {
      server.close();
    }
  });
}

test("the end of a program's standard error is kept", async () => {
  const sandbox = await chooseSandbox("auto", log);
  const { complaints } = await ffmpeg(sandbox, () => ["-i", `file:${"x".repeat(20_000)}END`]);
  assert.ok(complaints.length <= 16_384);
  assert.match(complaints, /END/);
});

/** Chooses a sandbox in another process, after a shell in namespaces of its own has run a setup. */
async function chosenAfter(setup: string, choice: string): Promise<string> {
  const script = `
    const { chooseSandbox } = await import(${JSON.stringify(import.meta.resolve("./sandbox.ts"))});
    const { createLog } = await import(${JSON.stringify(import.meta.resolve("../std/log.ts"))});
    const chosen = chooseSandbox(${JSON.stringify(choice)}, createLog("silent"));
    console.log(await chosen.then(({ kind }) => kind, ({ message }) => message));`;
  const shell = ["sh", "-euc", `${setup}; exec "$@"`, "sh"];
  const program = [process.execPath, "--input-type=module", "-e", script];
  const parameters = ["--user", "--map-root-user", "--mount", ...shell, ...program];
  return (await promisify(execFile)("unshare", parameters)).stdout.trim();
}

/** Masks a part of /proc, as containers do. The kernel then refuses to mount another /proc. */
const maskedProc = "mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys";
const noNamespaces = "for kind in user mnt; do echo 0 >/proc/sys/user/max_${kind}_namespaces; done";

test("chooseSandbox() chooses bubblewrap without /proc where /proc cannot be mounted", async () => {
  for (const choice of ["auto", "bubblewrap", "bubblewrap-without-proc"]) {
    assert.equal(await chosenAfter(maskedProc, choice), "bubblewrap-without-proc");
  }
  assert.equal(await chosenAfter("true", "auto"), "bubblewrap");
});

test("a sandbox that has worked in this process is not tried again", async () => {
  const chosen = await chooseSandbox("auto", log);
  const folder = process.env["TMPDIR"];
  try {
    // The decoder is tried with a file in the folder for temporary files.
    process.env["TMPDIR"] = "/nonexistent";
    assert.equal(await chooseSandbox("auto", log), chosen);
  } finally {
    if (folder === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = folder;
  }
});

test("without namespaces, only HLUST_SANDBOX=reduced decodes media as the service's own user", async () => {
  const refusal = await chosenAfter(noNamespaces, "auto");
  assert.match(refusal, /^media would be decoded without a sandbox, as the user who owns all data/);
  assert.match(refusal, /\(bwrap: .*\)\. Allow user namespaces .* or set HLUST_SANDBOX=reduced/);
  assert.doesNotMatch(refusal, /\n/);
  assert.match(await chosenAfter(noNamespaces, "bubblewrap"), /^HLUST_SANDBOX=bubblewrap, but/);
  assert.equal(await chosenAfter(noNamespaces, "reduced"), "reduced");
});

function endless(mark: string): string[] {
  const source = ["-re", "-f", "lavfi", "-i", "anullsrc", "-metadata", `title=${mark}`];
  return ["-nostdin", "-v", "error", ...source, "-f", "null", "-"];
}

/** Returns the number of programs that have the mark in their command line. */
async function countOf(mark: string, name = ""): Promise<number> {
  let count = 0;
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid) || +pid === process.pid) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.includes(`title=${mark}\0`) && command.includes(name)) count++;
  }
  return count;
}
