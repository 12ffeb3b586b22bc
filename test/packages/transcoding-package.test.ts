// The package http-transcoding as its users have it: packed, installed in an empty project, in the
// layout of pnpm and in a bundle, with the example of its README as the server.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Validator } from "@seriousme/openapi-schema-validator";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { build } from "vite";
import { packedPackages } from "./packed-packages.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const bin = join(root, "node_modules/.bin");

let folder: string;
let packed: string;
let project: string;
let readme: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-transcoding-"));
  const all = await packedPackages(folder, "http-transcoding");
  packed = all[0] ?? "";
  readme = await readFile(join(folder, "http-transcoding/README.md"), "utf8");
  project = join(folder, "project");
  await mkdir(project);
  await writeFile(join(project, "package.json"), '{ "type": "module", "private": true }');
  const options = ["--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  const protobuf = all.filter((file) => /http-transcoding|bufbuild-protobuf/.test(file));
  await run("npm", ["install", ...options, ...protobuf], { cwd: project });
  await mkdir(join(project, "proto"));
  await writeFile(join(project, "proto/library.proto"), block("proto"));
  await writeFile(join(project, "buf.yaml"), block("yaml"));
  await writeFile(join(project, "server.js"), block("js"));
  await run(join(bin, "buf"), ["build", "-o", "library.binpb"], { cwd: project });
});
after(async () => await rm(folder, { recursive: true }));

/** Returns the only code block of a language in the README. */
function block(language: string): string {
  const found = Array.from(readme.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, name, text]) =>
    name === language ? [text ?? ""] : [],
  ).flat();
  assert.equal(found.length, 1, `blocks of ${language}`);
  return found[0] ?? "";
}

test("publint and arethetypeswrong find nothing", async () => {
  const pkgDir = join(folder, "http-transcoding");
  const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
  await run(join(bin, "attw"), [packed, "--profile", "esm-only"]);
});

test("it has one dependency, the protos of its options, and no service of Hlust", async () => {
  const dist = join(folder, "http-transcoding/dist");
  const description = JSON.parse(await readFile(join(dist, "../package.json"), "utf8"));
  assert.deepEqual(Object.keys(description.dependencies), ["@bufbuild/protobuf"]);
  assert.deepEqual((await readdir(join(dist, "gen"))).toSorted(), ["google", "hlust"]);
  assert.deepEqual(await readdir(join(dist, "gen/hlust")), ["api"]);
  assert.deepEqual((await readdir(join(project, "node_modules"))).toSorted(), [
    ".package-lock.json",
    "@bufbuild",
    "http-transcoding",
  ]);
});

test("the example of the README serves its proto, its failures and its document", async (t) => {
  const url = await startServer(t, project);
  const book = "/v1/shelves/1/books/2";
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init);
    const body = JSON.parse(await response.text());
    return { status: response.status, headers: response.headers, body };
  };
  const whole = { name: "shelves/1/books/2", title: "Njála", pages: 350 };
  assert.deepEqual((await ask(book)).body, whole);
  const patched = await ask(book, { method: "PATCH", body: '{"title":"Egla","pages":"320"}' });
  assert.deepEqual(patched.body, { ...whole, title: "Egla", pages: 320 });

  const wrong = await ask(book, { method: "PATCH", body: '{"pages":1.5,"size":3}' });
  assert.equal(wrong.status, 400);
  const { code, message, details } = wrong.body;
  assert.equal(code, 3);
  assert.ok(readme.includes(`{"code":3,"message":${JSON.stringify(message)}, ...}`), message);
  assert.deepEqual(details[0], {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "INVALID_ARGUMENT",
    domain: "library.example",
    metadata: {},
  });
  const fields = details[1].fieldViolations.map((one: { field: string }) => one.field);
  assert.deepEqual(fields.toSorted(), ["pages", "size"]);

  const refused = await ask(book, { method: "DELETE" });
  assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "GET, PATCH"]);
  const missing = await ask("/v1/shelves/1/books/3");
  assert.deepEqual([missing.status, missing.body.code], [404, 5]);
  const long = await ask(book, { method: "PATCH", body: " ".repeat(1_000_001) });
  assert.deepEqual([long.status, long.body.code], [413, 3]);

  const { body: document } = await ask("/openapi.json");
  const { valid, errors } = await new Validator().validate(document);
  assert.ok(valid, JSON.stringify(errors));
  assert.deepEqual(Object.keys(document.paths), ["/v1/shelves/{shelve}/books/{book}"]);
  const { get, patch } = document.paths["/v1/shelves/{shelve}/books/{book}"];
  assert.deepEqual([get.summary, patch.summary], ["Returns a book", "Changes a book"]);
  assert.match(JSON.stringify(document), /The title, as it is printed\./);
});

test("types are found by Node's and by a bundler's resolution", async () => {
  await writeFile(
    join(project, "typed.ts"),
    `import { createTranscoder, readServices, ServiceError, writeStatus } from "http-transcoding";
    import type { ErrorCode, Routed, Transcoder } from "http-transcoding";
    const transcoder: Transcoder = createTranscoder(readServices(new Uint8Array()).services);
    export const routed: Routed = transcoder.route("GET", "/");
    export const code: ErrorCode = new ServiceError("not_found", "").code;
    export const status: number = writeStatus(undefined, "example").status;
    // @ts-expect-error -- no such code
    export const wrong = new ServiceError("lost", "");`,
  );
  for (const resolution of ["nodenext", "bundler"]) {
    const module = resolution === "nodenext" ? "nodenext" : "esnext";
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom"];
    const modules = ["--module", module, "--moduleResolution", resolution, "--ignoreConfig"];
    await run(join(bin, "tsc"), [...options, ...modules, "typed.ts"], { cwd: project });
  }
});

test("the example runs in the layout of pnpm", async (t) => {
  const layout = join(folder, "pnpm");
  const store = join(layout, "node_modules/.pnpm/http-transcoding/node_modules");
  await mkdir(join(store, "@bufbuild"), { recursive: true });
  await mkdir(join(layout, "node_modules/@bufbuild"));
  await run("cp", ["-r", join(folder, "http-transcoding"), store]);
  await run("cp", [join(project, "server.js"), join(project, "library.binpb"), layout]);
  await writeFile(join(layout, "package.json"), '{ "type": "module" }');
  const protobuf = join(project, "node_modules/@bufbuild/protobuf");
  await symlink(protobuf, join(store, "@bufbuild/protobuf"));
  await symlink(protobuf, join(layout, "node_modules/@bufbuild/protobuf"));
  await symlink(join(store, "http-transcoding"), join(layout, "node_modules/http-transcoding"));
  const response = await fetch(`${await startServer(t, layout)}/v1/shelves/1/books/2`);
  assert.equal(response.status, 200);
});

test("the example runs as a bundle, alone in a folder", async (t) => {
  const alone = join(folder, "alone");
  const external = builtinModules.flatMap((name) => [name, `node:${name}`]);
  await build({
    root: project,
    configFile: false,
    logLevel: "error",
    build: {
      outDir: alone,
      ssr: join(project, "server.js"),
      rolldownOptions: { external, output: { entryFileNames: "server.js" } },
    },
    ssr: { noExternal: true },
  });
  await run("cp", [join(project, "library.binpb"), join(project, "package.json"), alone]);
  assert.doesNotMatch(await readFile(join(alone, "server.js"), "utf8"), /from ?"[@h]/);
  const response = await fetch(`${await startServer(t, alone)}/v1/shelves/1/books/2`);
  assert.equal(response.status, 200);
});

/** Starts the example on a free port, and returns its address. */
async function startServer(t: { after(end: () => unknown): void }, cwd: string): Promise<string> {
  const env = { ...process.env, PORT: "0" };
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const server = spawn(process.execPath, ["server.js"], { cwd, env, stdio: [...stdio] });
  const ended = once(server, "exit");
  t.after(async () => {
    server.kill();
    await ended;
  });
  const lines = createInterface(server.stdout);
  const [line] = await Promise.race([once(lines, "line"), ended.then(() => ["it ended"])]);
  assert.match(String(line), /^http:/);
  return String(line);
}
