// The examples in samples/python, with a whole service and the libraries of Debian.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { speak } from "../fixtures/flite.ts";
import { openTestService, type TestService } from "../spec/service.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const samples = join(root, "samples/python");
let folder: string;
let service: TestService;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-python-"));
  service = await openTestService();
  await writeFile(join(folder, "talk.wav"), speak("the weather is cold and dark today"));
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Runs an example with Debian's Python in the test's folder. */
async function python(name: string, args: readonly string[], settings = {}) {
  const env = { ...process.env, HLUST_URL: service.address, HLUST_TOKEN: service.key, ...settings };
  const all = [join(samples, name), "talk.wav", "--language", "en-US", ...args];
  return await run("/usr/bin/python3", all, { cwd: folder, env });
}

test("transcribe.py transcribes a recording, and recognizes one live", async () => {
  const { stdout: transcript, stderr: progress } = await python("transcribe.py", []);
  assert.match(transcript, /weather is cold/i);
  assert.match(progress, /^\d+ %$/m);
  const { stdout: finals, stderr: interims } = await python("transcribe.py", ["--live"]);
  assert.match(finals, /weather is cold/i);
  assert.match(interims, /^\.\.\. the/m);
});

test("transcribe.py says what the service refuses", async () => {
  const wrong = python("transcribe.py", [], { HLUST_TOKEN: "wrong" });
  await assert.rejects(wrong, ({ code, stderr }) => {
    assert.equal(code, 1);
    assert.match(stderr, /^POST \/v1alpha1\/initupload: 401: \S/);
    return true;
  });
});

test("recognize_grpc.py recognizes a recording, with the code that its own command makes", async () => {
  const text = readFileSync(join(samples, "recognize_grpc.py"), "utf8");
  const command = /^ {4}(mkdir -p generated.*?'\*\.proto'\))$/ms.exec(text)?.[1];
  assert.ok(command);
  const generated = join(folder, "generated");
  const lines = command.replaceAll("\\\\\n", "\\\n").replaceAll("generated", generated);
  await run("bash", ["-euc", lines], { cwd: root });
  const { stdout } = await python("recognize_grpc.py", [], { PYTHONPATH: generated });
  assert.match(stdout, /^whole: {2}the weather is cold/m);
  assert.match(stdout, /^ +\d+\.\d\d s {2}weather$/m);
  assert.match(stdout, /^stream: .*dark today/m);
});
