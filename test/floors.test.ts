import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

/** Who may import whom: the table of docs/architecture.md. A folder may always import itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  std: [],
  gen: [],
  transcoding: ["std", "gen/google/api", "gen/hlust/api"],
  database: ["std"],
  audio: ["std"],
  media: ["std", "database"],
  models: ["std"],
  engines: ["std", "audio", "models"],
  auth: ["std", "gen", "database"],
  accounts: ["std", "gen", "database", "auth"],
  transcripts: ["std", "gen", "transcoding", "database", "media", "auth"],
  webhooks: ["std", "gen", "database", "media", "auth"],
  describe: ["std", "database", "media", "auth", "audio"],
  jobs: [
    "std",
    "gen",
    "database",
    "media",
    "auth",
    "audio",
    "engines",
    "transcripts",
    "webhooks",
    "describe",
  ],
  speech: ["std", "gen", "auth", "audio", "engines"],
  server: ["std", "gen", "transcoding", "auth", "media"],
  fsck: ["std", "gen", "database", "media", "transcripts"],
  operator: ["std", "database", "media", "auth", "accounts"],
  settings: ["std", "media/s3-bucket.ts", "auth/open-id.ts"],
  "config.ts": [
    "std",
    "settings",
    "models/model-choice.ts",
    "media/s3-bucket.ts",
    "auth/open-id.ts",
  ],
  "doors.ts": [
    "std",
    "gen",
    "config.ts",
    "transcoding",
    "database",
    "audio",
    "media",
    "models",
    "engines",
    "auth",
    "accounts",
    "transcripts",
    "webhooks",
    "jobs",
    "speech",
    "server",
  ],
  "readiness.ts": [
    "std",
    "gen",
    "config.ts",
    "database",
    "audio",
    "media",
    "models",
    "engines",
    "server",
  ],
  "app.ts": [
    "std",
    "config.ts",
    "database",
    "audio",
    "media",
    "models",
    "engines",
    "auth",
    "accounts",
    "transcripts",
    "webhooks",
    "describe",
    "jobs",
    "server",
    "doors.ts",
    "readiness.ts",
  ],
  "main.ts": ["std", "config.ts", "app.ts"],
  cli: [
    "client",
    "gen",
    "std",
    "engines",
    "models",
    "fsck",
    "operator",
    "accounts",
    "auth",
    "database/open-existing.ts",
    "media/open-archive.ts",
    "config.ts",
    "main.ts",
  ],
  client: ["std", "gen", "transcoding"],
  console: ["client", "gen", "std"],
};

/**
 * Who may import whom within src/engines: the service's side of the pipe (pool) and the child's
 * (process) share protocol alone, and an engine knows neither of them.
 */
const mayImportInEngines: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  pool: ["protocol"],
  process: ["protocol", "scripted", "ctc", "pocketsphinx", "sherpa-onnx"],
  scripted: ["protocol"],
  ctc: ["protocol"],
  pocketsphinx: ["protocol"],
  "sherpa-onnx": ["protocol"],
};

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");

/** Every import of a project file, as `folder -> path below src`. */
function importsOf(file: string, text: string): { room: string; target: string }[] {
  const room = roomOf(relative(source, file));
  const specifiers = text.matchAll(/(?:from|import\(|import|URL\()\s*"(\.[^"]+\.tsx?)"/g);
  return Array.from(specifiers, ([, specifier = ""]) => ({
    room,
    target: relative(source, resolve(dirname(file), specifier)),
  }));
}

function roomOf(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

/** What is wrong with an import, or undefined. */
function violation({ room, target }: { room: string; target: string }): string | undefined {
  const allowed = mayImport[room];
  if (!allowed) return `${room} is no room of the house`;
  const isAllowed = [room, ...allowed].some(
    (entry) => target === entry || target.startsWith(`${entry}/`),
  );
  return isAllowed ? undefined : `${room} may not import ${target}`;
}

test("every import keeps to its floor", () => {
  const files = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter(
    (file) => !file.endsWith(".test.ts"),
  );
  assert.ok(files.length > 20);
  const broken = files.flatMap((file) => {
    const path = join(root, file);
    const imports = importsOf(path, readFileSync(path, "utf8"));
    return imports.map(violation).flatMap((problem) => (problem ? [`${file}: ${problem}`] : []));
  });
  assert.deepEqual(broken, []);
});

test("the two sides of the engine pipe, and the engines, meet in the protocol only", () => {
  const files = globSync("src/engines/*/*.ts", { cwd: root }).filter(
    (file) => !file.endsWith(".test.ts"),
  );
  assert.ok(files.length > 50);
  const broken = files.flatMap((file) => {
    const path = join(root, file);
    const [, , folder = ""] = file.split("/");
    const allowed = new Set([folder, ...(mayImportInEngines[folder] ?? [])]);
    return importsOf(path, readFileSync(path, "utf8"))
      .map(({ target }) => target.split("/"))
      .filter(([room, other = ""]) => room === "engines" && !allowed.has(other))
      .map((target) => `${file}: may not import ${target.join("/")}`);
  });
  assert.deepEqual(broken, []);
});

test("an import that breaks the floors is seen", () => {
  const rows: [file: string, line: string, problem: string | undefined][] = [
    ["std/a.ts", 'import { x } from "../auth/caller.ts";', "std may not import auth/caller.ts"],
    ["server/a.ts", 'export * from "../jobs/worker.ts";', "server may not import jobs/worker.ts"],
    ["media/a.ts", 'await import("../app.ts")', "media may not import app.ts"],
    [
      "transcoding/a.ts",
      'import type { Status } from "../gen/google/rpc/status_pb.ts";',
      "transcoding may not import gen/google/rpc/status_pb.ts",
    ],
    [
      "engines/a.ts",
      'new URL("../server/x.ts", import.meta.url)',
      "engines may not import server/x.ts",
    ],
    ["attic/a.ts", 'import "../std/ids.ts";', "attic is no room of the house"],
    ["jobs/a.ts", 'import { x } from "../transcripts/store.ts";', undefined],
    ["jobs/deep/a.ts", 'import { x } from "../a.ts";', undefined],
  ];
  for (const [file, line, problem] of rows) {
    const [found] = importsOf(join(source, file), line);
    assert.ok(found, line);
    assert.equal(violation(found), problem, line);
  }
});

test("only the command line hands out the environment, to config.ts (PATH aside)", () => {
  const readers = globSync("src/**/*.ts", { cwd: root }).filter((file) => {
    const code = readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
    return !file.endsWith(".test.ts") && /process\.env\b(?!\["PATH"\])/.test(code);
  });
  assert.deepEqual(readers, ["src/cli/hlust.ts"]);
});
