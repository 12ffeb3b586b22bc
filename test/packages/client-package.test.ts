// The package hlust-client as its users have it: packed, installed in an empty project, in the
// layout of pnpm and in a bundle, and used with a whole service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build } from "vite";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { openTestService } from "../spec/service.ts";
import { dependencies, packedPackages } from "./packed-packages.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const bin = join(root, "node_modules/.bin");
/** The size of the whole client in a bundle that issue 24 allows, compressed. */
const bundleBytesMax = 60_000;

let folder: string;
let packed: string;
let project: string;
let readme: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-packages-"));
  const all = await packedPackages(folder, "hlust-client");
  packed = all[0] ?? "";
  readme = await readFile(join(folder, "hlust-client/README.md"), "utf8");
  project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), '{ "type": "module", "private": true }');
  const options = ["--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  await run("npm", ["install", ...options, ...all], { cwd: project });
});
after(async () => await rm(folder, { recursive: true }));

test("publint and arethetypeswrong find nothing", async () => {
  const pkgDir = join(folder, "hlust-client");
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
  await run(join(bin, "attw"), [packed, "--profile", "esm-only"]);
});

test("the README names every method of every service", () => {
  for (const service of [Transcripts, Speech, Vocabulary, Accounts, Webhooks, Operator]) {
    for (const { localName } of service.methods) {
      assert.match(readme, new RegExp(`\\b${localName}\\b`), `${service.typeName}.${localName}`);
    }
  }
});

test("the example of the README transcribes a recording", async () => {
  await using service = await openTestService();
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1];
  assert.ok(example);
  const code = example.replace("https://speech.example", service.address);
  await writeFile(join(project, "example.js"), code);
  await writeFile(join(project, "talk.mp3"), speak("the weather is cold and dark today"));
  const env = { ...process.env, HLUST_TOKEN: service.key };
  const { stdout } = await run(process.execPath, ["example.js"], { cwd: project, env });
  assert.match(stdout, /weather is cold/);
});

test("types are found by Node's and by a bundler's resolution", async () => {
  await writeFile(
    join(project, "typed.ts"),
    `import { Code, ConnectError, createHlustClient, type HlustClient } from "hlust-client";
    import { BadRequestSchema, type Transcript } from "hlust-client/messages";
    const client: HlustClient = createHlustClient({ url: "http://127.0.0.1:1", token: "k" });
    export async function read(name: string): Promise<Transcript | undefined> {
      try {
        return await client.transcripts.getTranscript({ name });
      } catch (error) {
        const problem = ConnectError.from(error);
        if (problem.code === Code.NotFound) return undefined;
        throw new Error(problem.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field);
      }
    }
    // @ts-expect-error -- the name of a transcript is text
    export const wrong = client.transcripts.getTranscript({ name: 1 });`,
  );
  for (const resolution of ["nodenext", "bundler"]) {
    const module = resolution === "nodenext" ? "nodenext" : "esnext";
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2024,dom,esnext"];
    const modules = ["--module", module, "--moduleResolution", resolution, "--ignoreConfig"];
    await run(join(bin, "tsc"), [...options, ...modules, "typed.ts"], { cwd: project });
  }
});

test("it finds all that it imports in the layout of pnpm", async () => {
  const layout = join(folder, "pnpm");
  const store = join(layout, "node_modules/.pnpm/hlust-client/node_modules");
  await mkdir(join(store, "@bufbuild"), { recursive: true });
  await mkdir(join(store, "@connectrpc"));
  await run("cp", ["-r", join(folder, "hlust-client"), store]);
  for (const name of dependencies)
    await symlink(join(project, "node_modules", name), join(store, name));
  await symlink(join(store, "hlust-client"), join(layout, "node_modules/hlust-client"));
  const code = 'import("hlust-client").then((all) => console.log(typeof all.createHlustClient))';
  const { stdout } = await run(process.execPath, ["--eval", code], { cwd: layout });
  assert.equal(stdout.trim(), "function");
});

test("in a bundle for browsers it is small, without Node modules, and unused parts are left out", async () => {
  const whole = await bundled('export * from "hlust-client";');
  assert.ok(whole.bytes < bundleBytesMax, `${whole.bytes} bytes`);
  assert.deepEqual(whole.imports.filter(isBuiltin), []);
  assert.doesNotMatch(whole.code, /\bprocess\.|\bBuffer\b|\brequire\(/);
  const part = await bundled('export { makeKeyPair } from "hlust-client";');
  assert.ok(part.bytes < whole.bytes / 10, `${part.bytes} of ${whole.bytes} bytes`);
});

/** Bundles a module of the project as pages do. `bytes` is the compressed size. */
async function bundled(source: string) {
  const entry = join(project, "entry.js");
  await writeFile(entry, source);
  const result = await build({
    root: project,
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  });
  const [output] = Array.isArray(result) ? result : [result];
  assert.ok(output && "output" in output);
  const chunks = output.output.filter((one) => one.type === "chunk");
  const code = chunks.map((chunk) => chunk.code).join("");
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]);
  return { code, imports, bytes: gzipSync(code).length };
}
