import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";

/** What each room may import, as in docs/architecture.md. A folder may always import itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  std: [],
  gen: [],
  transcoding: ["std", "gen/google/api", "gen/hlust/api"],
  database: ["std", "metrics/recorders.ts", "tracing"],
  audio: ["std"],
  media: ["std", "metrics/recorders.ts", "database"],
  models: ["std"],
  systemd: ["std"],
  metrics: [],
  tracing: ["std"],
  cues: [],
  evaluation: [],
  writing: [],
  engines: ["std", "metrics/recorders.ts", "audio", "models", "tracing"],
  auth: ["std", "gen", "database", "tracing"],
  accounts: ["std", "gen", "database", "auth"],
  watches: ["std", "database", "tracing"],
  vocabulary: ["std", "gen", "database", "auth", "engines", "writing"],
  transcripts: [
    "std",
    "gen",
    "transcoding",
    "cues",
    "database",
    "media",
    "auth",
    "watches",
    "vocabulary",
  ],
  webhooks: ["std", "metrics/recorders.ts", "gen", "database", "media", "auth", "tracing"],
  describe: ["std", "database", "media", "audio"],
  jobs: [
    "std",
    "metrics/recorders.ts",
    "gen",
    "database",
    "media",
    "auth",
    "audio",
    "engines",
    "transcripts",
    "vocabulary",
    "writing",
    "webhooks",
    "describe",
    "watches",
    "tracing",
  ],
  alignment: [
    "std",
    "gen",
    "database",
    "media",
    "auth",
    "audio",
    "engines",
    "transcripts",
    "describe",
    "jobs",
  ],
  speech: ["std", "gen", "audio", "media", "auth", "engines", "writing", "vocabulary", "tracing"],
  server: ["std", "metrics/recorders.ts", "gen", "transcoding", "auth", "media", "tracing"],
  dialects: [
    "std",
    "metrics/recorders.ts",
    "gen",
    "writing",
    "cues",
    "audio",
    "engines",
    "auth",
    "vocabulary",
    "transcripts",
    "describe",
    "jobs",
    "speech",
    "server",
  ],
  fsck: ["std", "database", "media", "transcripts", "vocabulary"],
  backup: ["std", "database", "media", "models"],
  operator: ["std", "database", "media", "auth", "accounts"],
  settings: [
    "std",
    "models/model-choice.ts",
    "media/s3-bucket.ts",
    "auth/open-id.ts",
    "tracing/tracing-options.ts",
  ],
  "config.ts": [
    "std",
    "settings",
    "media/s3-bucket.ts",
    "auth/open-id.ts",
    "tracing/tracing-options.ts",
  ],
  "doors.ts": [
    "std",
    "metrics/call-metrics.ts",
    "gen",
    "config.ts",
    "transcoding",
    "database",
    "audio",
    "media",
    "engines",
    "auth",
    "accounts",
    "vocabulary",
    "transcripts",
    "webhooks",
    "jobs",
    "alignment",
    "watches",
    "speech",
    "server",
  ],
  "readiness.ts": ["gen", "config.ts", "database", "audio", "media", "engines", "server"],
  "app-options.ts": ["std", "config.ts", "media", "server", "transcripts"],
  "check-config.ts": ["std", "config.ts", "app-options.ts", "doors.ts"],
  "live-config.ts": ["config.ts"],
  "reload-settings.ts": ["std", "live-config.ts", "server"],
  "open-job-work.ts": [
    "config.ts",
    "metrics/recorders.ts",
    "alignment",
    "describe",
    "jobs",
    "media",
    "webhooks",
  ],
  "open-metrics.ts": [
    "std",
    "config.ts",
    "settings",
    "metrics",
    "database",
    "engines",
    "jobs",
    "webhooks",
    "server",
    "doors.ts",
  ],
  "app.ts": [
    "std",
    "open-metrics.ts",
    "config.ts",
    "app-options.ts",
    "open-job-work.ts",
    "database",
    "audio",
    "media",
    "engines",
    "auth",
    "accounts",
    "transcripts",
    "vocabulary",
    "jobs",
    "watches",
    "dialects",
    "server",
    "doors.ts",
    "readiness.ts",
  ],
  "main.ts": [
    "std",
    "systemd",
    "tracing",
    "server/access-log.ts",
    "config.ts",
    "live-config.ts",
    "reload-settings.ts",
    "app.ts",
  ],
  cli: [
    "gen",
    "std",
    "audio",
    "engines",
    "models",
    "evaluation",
    "jobs/worker/cut-pieces.ts",
    "fsck",
    "backup",
    "operator",
    "accounts",
    "auth",
    "database/open-existing.ts",
    "media/open-archive.ts",
    "config.ts",
    "check-config.ts",
    "main.ts",
  ],
  client: ["std", "gen", "transcoding"],
  remote: [
    "gen",
    "client",
    "cli/command.ts",
    "cli/command-group.ts",
    "cli/options.ts",
    "cli/models/columns.ts",
  ],
  console: ["client", "cues", "gen", "std"],
};

/**
 * What each folder of src/engines may import from the others: the service's side of the pipe (pool)
 * and the child's side (process) share only protocol, and an engine imports neither of them.
 */
const mayImportInEngines: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  pool: ["protocol"],
  process: ["protocol", "scripted", "ctc", "pocketsphinx", "sherpa-onnx"],
  scripted: ["protocol"],
  alignment: ["protocol"],
  ctc: ["protocol", "alignment"],
  pocketsphinx: ["protocol", "alignment"],
  "sherpa-onnx": ["protocol"],
};

const root = resolve(import.meta.dirname, "..");
const source = join(root, "src");

interface Import {
  readonly room: string;
  /** The path below src. */
  readonly target: string;
  /**
   * Whether the target is a program that this file starts as a thread or process. A program may
   * import types from the file that starts it.
   */
  readonly isProgram: boolean;
}

/** Returns every import of a project file, including type imports. */
function importsOf(file: string, text: string): Import[] {
  const room = roomOf(relative(source, file));
  const specifiers = text.matchAll(/(from|import\(|import|URL\()\s*"(\.[^"]+\.tsx?)"/g);
  return Array.from(specifiers, ([, by, specifier = ""]) => ({
    room,
    target: relative(source, resolve(dirname(file), specifier)),
    isProgram: by === "URL(",
  }));
}

function roomOf(path: string): string {
  return path.split("/", 1)[0] ?? path;
}

/** Returns the imports of each file of src except tests; paths are below src. */
function importsOfSource(): ReadonlyMap<string, readonly Import[]> {
  const files = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter(
    (file) => !file.endsWith(".test.ts"),
  );
  return new Map(
    files.map((file) => {
      const path = join(root, file);
      return [relative(source, path), importsOf(path, readFileSync(path, "utf8"))];
    }),
  );
}

const isOf = (target: string, permission: string): boolean =>
  target === permission || target.startsWith(`${permission}/`);

/** Returns the problem with an import, or undefined. */
function violation({ room, target }: Import): string | undefined {
  const allowed = mayImport[room];
  if (!allowed) return `${room} has no row in the table of floors`;
  const isAllowed = [room, ...allowed].some((permission) => isOf(target, permission));
  return isAllowed ? undefined : `${room} may not import ${target}`;
}

/**
 * Returns the cycles of a graph (Tarjan, Depth-first search and linear graph algorithms, 1972):
 * sets of nodes, each of which reaches all the others.
 */
function circlesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const indexes = new Map<string, number>();
  const lows = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): number => {
    const index = indexes.size;
    indexes.set(node, index);
    stack.push(node);
    let low = index;
    for (const next of edges.get(node) ?? []) {
      if (!indexes.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, lows.get(next) ?? indexes.get(next) ?? 0);
    }
    lows.set(node, low);
    if (low === index) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) found.push(circle.toSorted());
    }
    return low;
  };
  for (const node of edges.keys()) if (!indexes.has(node)) visit(node);
  return found;
}

test("every import respects the floors", () => {
  const imports = importsOfSource();
  assert.ok(imports.size > 20);
  const broken = [...imports].flatMap(([file, targets]) =>
    targets.map(violation).flatMap((problem) => (problem ? [`${file}: ${problem}`] : [])),
  );
  assert.deepEqual(broken, []);
});

test("docs/architecture.md shows the table of floors", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
  const [, section = ""] = page.split("\n## Floors\n");
  const [floors = ""] = section.split("\n## ", 1);
  // The matches are rows of the table, and items of the list below it, which wrap.
  const entries = floors.matchAll(
    /^(?:\| src\/(.+?) \| (.+) \||- src\/(.+?): ((?:.+|\n {2})+))$/gm,
  );
  const shown = Object.fromEntries(
    Array.from(entries, ([, row = "", cell = "", item = row, list = cell]) => {
      const permissions = list.split(/,\s+/).filter((each) => each !== "nothing");
      return [item.replace(/\/$/, ""), permissions];
    }),
  );
  assert.deepEqual(shown, mayImport);
});

test("the two sides of the engine pipe, and the engines, share only the protocol", () => {
  const engineFiles = [...importsOfSource()].filter(([file]) => /^engines\/.+\//.test(file));
  assert.ok(engineFiles.length > 50);
  const broken = engineFiles.flatMap(([file, targets]) => {
    const [, folder = ""] = file.split("/");
    const allowed = new Set([folder, ...(mayImportInEngines[folder] ?? [])]);
    return targets
      .map(({ target }) => target.split("/"))
      .filter(([room, other = ""]) => room === "engines" && !allowed.has(other))
      .map((target) => `${file}: may not import ${target.join("/")}`);
  });
  assert.deepEqual(broken, []);
});

test("the table of floors permits no import that does not exist", () => {
  const imports = [...importsOfSource().values()].flat();
  const unused = Object.entries(mayImport).flatMap(([room, permissions]) =>
    permissions.flatMap((permission) => {
      const isUsed = imports.some((one) => one.room === room && isOf(one.target, permission));
      return isUsed ? [] : [`${room} -> ${permission}`];
    }),
  );
  assert.deepEqual(unused, []);
});

test("no files import each other in a cycle, even through type imports", () => {
  const edges = new Map(
    [...importsOfSource()].map(([file, imports]) => {
      const targets = imports.filter(({ isProgram }) => !isProgram);
      return [file, targets.map(({ target }) => target)];
    }),
  );
  assert.deepEqual(circlesOf(edges), []);
});

test("a cycle of imports is found", () => {
  const rows: [edges: Record<string, string[]>, circles: string[][]][] = [
    [{ a: ["b"], b: ["c"], c: [] }, []],
    [{ a: ["b", "c"], b: ["c"], c: [] }, []],
    [{ a: ["b"], b: ["c"], c: ["b"] }, [["b", "c"]]],
    [{ a: ["b"], b: ["c", "d"], c: ["a"], d: ["d"] }, [["a", "b", "c"]]],
  ];
  for (const [edges, circles] of rows) {
    assert.deepEqual(circlesOf(new Map(Object.entries(edges))), circles);
  }
});

test("an import that breaks the floors is found", () => {
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
    ["attic/a.ts", 'import "../std/ids.ts";', "attic has no row in the table of floors"],
    ["jobs/a.ts", 'import { x } from "../transcripts/store.ts";', undefined],
    ["jobs/deep/a.ts", 'import { x } from "../a.ts";', undefined],
  ];
  for (const [file, line, problem] of rows) {
    const [found] = importsOf(join(source, file), line);
    assert.ok(found, line);
    assert.equal(violation(found), problem, line);
  }
});

test("except for PATH, only the command lines pass the environment on", () => {
  const readers = globSync("src/**/*.ts", { cwd: root }).filter((file) => {
    const code = readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
    return !file.endsWith(".test.ts") && /process\.env\b(?!\["PATH"\])/.test(code);
  });
  assert.deepEqual(readers.toSorted(), ["src/cli/hlust.ts", "src/remote/hlust.ts"]);
});
