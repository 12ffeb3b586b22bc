import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { mayImport, mayImportInEngines } from "./fixtures/allowed-imports.ts";

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

test("except for PATH, only programs pass the environment on", () => {
  const readers = globSync("src/**/*.ts", { cwd: root }).filter((file) => {
    const code = readFileSync(join(root, file), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
    return !file.endsWith(".test.ts") && /process\.env\b(?!\["PATH"\]|\["\w+"\] = )/.test(code);
  });
  assert.deepEqual(readers.toSorted(), [
    "src/cli/hlust.ts",
    "src/engines/process/engine-process.ts",
    "src/remote/hlust.ts",
    "src/serve-front.ts",
  ]);
});
