// The package hlust: its commands, installed from the packed file, with a whole service.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build } from "vite";
import { speak } from "../fixtures/flite.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { dependencies, packedPackages } from "./packed-packages.ts";

const run = promisify(execFile);
const sentence = "the weather is cold and dark today";
let folder: string;
let project: string;
let packed: string;
let service: TestService;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-remote-"));
  project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), '{ "private": true }');
  const options = ["--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  const all = await packedPackages(folder, "hlust");
  packed = all[0] ?? "";
  await run("npm", ["install", ...options, ...all], { cwd: project });
  service = await openTestService();
  await writeFile(join(project, "talk.wav"), speak(sentence));
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const attw = resolve(import.meta.dirname, "../../node_modules/.bin/attw");

test("publint finds nothing, and arethetypeswrong only that it has commands and no types", async () => {
  const pkgDir = join(folder, "hlust");
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
  const { stdout } = await run(attw, [packed, "--format", "json"]);
  const { analysis }: { analysis: { types: unknown } } = JSON.parse(stdout);
  assert.equal(analysis.types, false);
});

test("it finds all that it imports in the layout of pnpm", async () => {
  const layout = join(folder, "pnpm");
  const store = join(layout, "node_modules/.pnpm/hlust/node_modules");
  await mkdir(join(store, "@bufbuild"), { recursive: true });
  await mkdir(join(store, "@connectrpc"));
  await run("cp", ["-r", join(folder, "hlust"), store]);
  for (const name of dependencies)
    await symlink(join(project, "node_modules", name), join(store, name));
  await symlink(join(store, "hlust"), join(layout, "node_modules/hlust"));
  const program = join(layout, "node_modules/hlust/dist/remote/hlust.js");
  const listed = await run(process.execPath, [program, "jobs", "list"], { env: environment() });
  assert.equal(listed.stderr, "");
});

test("in one file of a bundler it runs without its packages", async () => {
  const alone = join(folder, "alone");
  await build({
    root: project,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: { ssr: join(project, "node_modules/hlust/dist/remote/hlust.js"), outDir: alone },
  });
  const program = join(alone, "hlust.mjs");
  const args = [program, "transcribe", join(project, "talk.wav"), "--language", "en-US"];
  const { stdout } = await run(process.execPath, args, { cwd: alone, env: environment() });
  assert.match(stdout, /weather is cold/i);
});

/** Returns an environment in which commands use the service. */
function environment() {
  return { ...process.env, HLUST_URL: service.address, HLUST_TOKEN: service.key };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `hlust` with this input. `settings` are set in its environment. */
async function hlust(
  args: readonly string[],
  { input = "", ...settings }: { input?: string | Buffer; [name: string]: unknown } = {},
): Promise<Ended> {
  const child = spawn(join(project, "node_modules/.bin/hlust"), args, {
    cwd: project,
    env: { ...process.env, XDG_CONFIG_HOME: join(folder, "config"), ...settings },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const ended = once(child, "exit");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { code: Number(code), stdout, stderr };
}

/** Runs `hlust` as the service's account, and fails unless it succeeds. */
async function succeeds(args: readonly string[], input?: Buffer): Promise<string> {
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  const { code, stdout, stderr } = await hlust(args, { ...settings, ...(input && { input }) });
  assert.equal(code, 0, stderr);
  return stdout;
}

test("login checks the key and keeps it where only the user can read it", async () => {
  const refused = await hlust(["login", service.address], { input: "wrong\n" });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^hlust: \S/);
  assert.equal((await hlust(["transcripts", "list"])).code, 2);
  const { code, stdout, stderr } = await hlust(["login", `${service.address}/`], {
    input: `${service.key}\n`,
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Logged in as /);
  assert.ok(!stdout.includes(service.key));
  const file = join(folder, "config/hlust/profiles.json");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await hlust(["transcripts", "list"])).code, 0);
  assert.equal((await hlust(["logout"])).code, 0);
  assert.ok(!(await readFile(file, "utf8")).includes(service.key));
});

test("the key of a profile is not sent to another service", async () => {
  await hlust(["login", service.address, "--profile", "own"], { input: service.key });
  const other = { HLUST_PROFILE: "own", HLUST_URL: "http://127.0.0.1:9" };
  const { code, stderr } = await hlust(["transcripts", "list"], other);
  assert.equal(code, 2);
  assert.match(stderr, /HLUST_TOKEN is not set/);
});

test("transcribe prints the text of a recording, and writes files", async () => {
  const printed = await succeeds(["transcribe", "talk.wav", "--language", "en-US"]);
  assert.match(printed, /weather is cold/i);
  const args = ["transcribe", "talk.wav", "--language", "en-US", "--format", "srt", "--json"];
  const result = JSON.parse(await succeeds(args));
  assert.deepEqual([result.input, result.file], ["talk.wav", "talk.srt"]);
  assert.match(await readFile(join(project, "talk.srt"), "utf8"), /^1\n00:00:0.* --> /);
  const again = await hlust(args, { HLUST_URL: service.address, HLUST_TOKEN: service.key });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /talk\.srt exists: --force writes over it/);
  const document = ["export", result.transcript, "--format", "docx"];
  await succeeds([...document, "--output", "talk.docx"]);
  assert.equal((await readFile(join(project, "talk.docx"))).subarray(0, 2).toString(), "PK");
  const subtitles = ["transcripts", "export", result.transcript, "--format", "srt"];
  const short = await succeeds([...subtitles, "--line-chars", "20", "--lines", "1"]);
  const texts = short.split("\n").filter((line) => !/^\d*$| --> /.test(line));
  assert.ok(texts.length > 1 && texts.every((line) => line.length <= 20), short);
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  const refused = await hlust([...subtitles, "--lines", "3"], settings);
  assert.match(refused.stderr, /--lines must be a whole number from 1 to 2, not "3"/);
  const other = await hlust([...subtitles, "--times", "yes"], settings);
  assert.match(other.stderr, /options.times: is for TEXT, DOCX, ODT, not for SRT/);
});

test("on a terminal transcribe shows a bar of its progress, and otherwise nothing", async () => {
  const command = "node_modules/.bin/hlust transcribe talk.wav --language en-US";
  // `script` runs it on a terminal, and prints what the terminal gets.
  const options = ["--quiet", "--return", "--command", command, "/dev/null"];
  const child = spawn("script", options, {
    cwd: project,
    env: { ...environment(), COLUMNS: "80" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const shown = await text(child.stdout);
  assert.deepEqual(await ended, [0, null], shown);
  assert.match(shown, /talk\.wav: uploading {2}[█░]{20} {2}\d+ %/);
  // A short recording may be done before the second look at its job.
  assert.match(shown, /talk\.wav: transcribing {2}░{20} {2}0 %.*transcribing {2}█+░* {2}\d+ %/s);
  // The line is removed before the text.
  const last = shown.split("\r\u001B[K").at(-1);
  assert.equal(last, "The weather is cold and dark today.\r\n");
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  const { stderr } = await hlust(["transcribe", "talk.wav", "--language", "en-US"], settings);
  assert.equal(stderr, "");
});

test("several recordings are all tried, and the exit code says that one failed", async () => {
  await writeFile(join(project, "letter.pdf"), "%PDF-1.4 this is not a recording");
  const args = ["transcribe", "letter.pdf", "missing.mp3", "talk.wav", "--language", "en-US"];
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  const { code, stdout, stderr } = await hlust([...args, "--output", "."], settings);
  assert.equal(code, 1);
  assert.equal(stdout.trim(), "talk.txt");
  assert.match(stderr, /^hlust: letter\.pdf: .*PDF/m);
  assert.match(stderr, /^hlust: missing\.mp3: /m);
});

test("jobs are submitted, listed and watched, transcripts listed and deleted", async () => {
  const args = ["transcribe", "talk.wav", "--language", "en-US", "--no-wait"];
  const job = (await succeeds(args)).trim();
  assert.match(job, /^transcriptjob\//);
  const transcript = (await succeeds(["jobs", "watch", job])).trim();
  assert.match(await succeeds(["jobs", "list"]), new RegExp(`^${job} +success +en-US +talk$`, "m"));
  assert.match(await succeeds(["transcripts", "list", "--search", "tal"]), new RegExp(transcript));
  assert.equal(await succeeds(["transcripts", "list", "--search", "x'\"y"]), "");
  await succeeds(["transcripts", "delete", transcript]);
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  const gone = await hlust(["transcripts", "export", transcript], settings);
  assert.equal(gone.code, 1);
});

test("listen prints what is said on standard input", async () => {
  const samples = pcmOf(speak(sentence));
  const args = ["listen", "--language", "en-US"];
  assert.match(await succeeds(args, samples), /weather is cold/i);
  const lines = (await succeeds([...args, "--json"], samples)).trim().split("\n");
  const results = lines.map((line): { text: string; isFinal: boolean } => JSON.parse(line));
  assert.match(results.at(-1)?.text ?? "", /today/i);
  assert.equal(results.at(-1)?.isFinal, true);
});

test("arguments that are not valid are named", async () => {
  const settings = { HLUST_URL: service.address, HLUST_TOKEN: service.key };
  for (const [args, problem] of [
    [["transcribe"], /no recording is named/],
    [["transcribe", "talk.wav", "--format", "doc"], /--format must be one of txt, .*"doc"/],
    [["transcribe", "talk.wav", "--langauge", "is"], /--langauge/],
    [["listen", "--rate", "1"], /--rate must be a whole number from 8000 to 48000/],
    [["dance"], /unknown command "dance"/],
    [["login", "speech.example"], /"speech\.example" is not the URL of a service/],
  ] as const) {
    const { code, stderr } = await hlust(args, settings);
    assert.equal(code, 2, stderr);
    assert.match(stderr, problem);
  }
});
