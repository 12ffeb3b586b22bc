// The runner of the gate: which files it repeats, what it prints, and where its seeds come from.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { watchFreeCores } from "./suites/free-cores.ts";
import { runInMemory } from "./suites/memory-folder.ts";
import { drawSeeds, seedNames } from "./suites/seeds.ts";
import { filesOfGroups, filesOfSuite, groups } from "./suites/suites.ts";

const root = resolve(import.meta.dirname, "..");
const folder = await mkdtemp(join(tmpdir(), "hlust-gate-"));
after(async () => await rm(folder, { recursive: true }));

const passes = 'import { test } from "node:test"; test("passes", () => {});';
const fails = 'import { test } from "node:test"; test("fails", () => { throw new Error(); });';
const crashes = "process.exit(3);";
const hangs = `
  import { test } from "node:test";
  test("hangs", () => new Promise(() => setInterval(() => {}, 1000)));`;
/** Fails in its first run, and passes in its second, as it finds the folder that the first made. */
const failsOnce = `
  import { mkdirSync } from "node:fs";
  import { test } from "node:test";
  test("passes", () => {});
  test("fails once", () => {
    if (mkdirSync(import.meta.filename + ".ran", { recursive: true })) throw new Error();
  });`;

/** Passes once another file has begun as well, while this one is running. */
const meetsOther = `
  import { readdirSync, writeFileSync } from "node:fs";
  import { dirname } from "node:path";
  import { test } from "node:test";
  import { setTimeout as sleep } from "node:timers/promises";
  test("meets another", { timeout: 60_000 }, async ({ signal }) => {
    writeFileSync(import.meta.filename + ".began", "");
    const began = () => readdirSync(dirname(import.meta.filename)).filter((n) => n.endsWith(".began"));
    while (began().length < 2) await sleep(10, undefined, { signal });
  });`;
/** Fails if another such file is running. */
const isAlone = `
  import { rmSync, writeFileSync } from "node:fs";
  import { dirname } from "node:path";
  import { test } from "node:test";
  import { setTimeout as sleep } from "node:timers/promises";
  test("is alone", async () => {
    const sign = dirname(import.meta.filename) + "/running";
    writeFileSync(sign, "", { flag: "wx" });
    await sleep(300);
    rmSync(sign);
  });`;

test("the gate runs each test file once, alone or in a suite", () => {
  const run = filesOfGroups(groups).flatMap((file) => {
    const [, suite] = /^test\/suites\/(.+)\.test\.ts$/.exec(file) ?? [];
    return suite === undefined ? file : filesOfSuite(suite);
  });
  const all = globSync("{src,bench,test}/**/*.test.ts", { cwd: root });
  const isSuite = (file: string) => file.startsWith("test/suites/");
  assert.ok(run.length > 500, `${run.length}`);
  assert.deepEqual(run.toSorted(), all.filter((file) => !isSuite(file)).toSorted());
  const suites = filesOfGroups(groups).filter(isSuite);
  assert.deepEqual(suites.toSorted(), all.filter(isSuite).toSorted(), "each suite has a file");
});

test("a file that failed is repeated alone, and its second run is counted", async () => {
  const { code, output } = await runTests({ failsOnce, passes });
  assert.match(output, /^flaky: .*failsOnce\.test\.mjs/m);
  assert.deepEqual(summaryOf(output), { tests: 3, pass: 3, fail: 0 });
  assert.equal(code, 0);
});

test("a file that fails twice fails the run", async () => {
  const { code, output } = await runTests({ fails, failsOnce, passes });
  assert.deepEqual(summaryOf(output), { tests: 4, pass: 3, fail: 1 });
  assert.equal(code, 1);
});

test("a file that ends before it reports anything fails the run", async () => {
  const { code, output } = await runTests({ crashes, passes });
  assert.deepEqual(summaryOf(output), { tests: 2, pass: 1, fail: 1 });
  assert.equal(code, 1);
});

test("more files than the limit are not repeated", async () => {
  const { code, output } = await runTests({ failsOnce, fails, crashes, passes });
  assert.match(output, /3 files failed: too many to repeat/);
  assert.doesNotMatch(output, /^flaky/m);
  assert.equal(code, 1);
});

test("more files than the least run at the same time only while there is room", async () => {
  const sources = { one: meetsOther, other: meetsOther };
  const roomy = await runTests(sources, "{ least: 1, most: 2, isRoom: () => true, watchMs: 50 }");
  assert.deepEqual(summaryOf(roomy.output), { tests: 2, pass: 2, fail: 0 });
  assert.doesNotMatch(roomy.output, /^flaky/m);
  const kept = { one: isAlone, other: isAlone };
  const full = await runTests(kept, "{ least: 1, most: 2, isRoom: () => false, watchMs: 50 }");
  assert.deepEqual(summaryOf(full.output), { tests: 2, pass: 2, fail: 0 });
  assert.doesNotMatch(full.output, /^flaky/m);
});

test("a run that is stopped ends its files, and repeats none", async () => {
  const { code, output } = await runTests(
    { hangs },
    "{ least: 1, most: 1, isRoom: () => false, watchMs: 50 }",
    "{ signal: AbortSignal.timeout(2000) }",
  );
  assert.doesNotMatch(output, /are repeated|^flaky/m);
  assert.equal(code, 1);
});

test("there is room for a further file while half a core is idle and memory is free", () => {
  const cores = availableParallelism();
  const gib = 1024 ** 3;
  let [idle, total, bytes] = [0, 0, 8 * gib];
  const isFree = watchFreeCores(
    () => ({ idle, total }),
    () => bytes,
  );
  const after = (idleCores: number) => {
    idle += 100 * idleCores;
    total += 100 * cores;
    return isFree();
  };
  assert.equal(after(cores), false, "nothing is known at first");
  assert.equal(after(0.6), true);
  assert.equal(after(0.4), false);
  assert.equal(isFree(), false, "no time has passed");
  bytes = 2 * gib;
  assert.equal(after(cores), false);
});

test("temporary files are in memory for a command, and nothing of them is left", async (context) => {
  if (process.geteuid?.() !== 0) return context.skip("only root can mount");
  const marker = join(folder, "in-memory.json");
  const source = `
    const { mkdtempSync, readFileSync, statSync, writeFileSync } = require("node:fs");
    const tmp = require("node:os").tmpdir();
    mkdtempSync(tmp + "/left-");
    const mount = readFileSync("/proc/mounts", "utf8").split("\\n").find((m) => m.includes(tmp));
    const mode = statSync(tmp).mode & 0o7777;
    writeFileSync(${JSON.stringify(marker)}, JSON.stringify({ tmp, mount, mode }));
    process.exitCode = 3;`;
  const command = [process.execPath, "--eval", source];
  assert.equal(await runInMemory(command, Infinity), undefined, "memory is short");
  assert.equal(existsSync(marker), false, "the command did not run");
  assert.equal(await runInMemory(command, 0), 3);
  const { tmp, mount, mode } = JSON.parse(await readFile(marker, "utf8"));
  assert.match(mount, /^hlust-tests \S+ tmpfs rw/);
  assert.equal(mode, 0o1777, "other users can use it");
  assert.equal(existsSync(tmp), false);
});

test("the files that took longest are printed, with their CPU time if it was measured", async () => {
  const costs = await mkdtemp(join(folder, "costs-"));
  const cost = { file: "b.test.ts", wallMs: 9000, userMs: 2000, systemMs: 500 };
  await writeFile(join(costs, "1.json"), JSON.stringify(cost));
  const durations = new Map([
    ["/p/a.test.ts", 1000],
    ["/p/b.test.ts", 9000],
  ]);
  const source = `
    import { printSlowest } from ${JSON.stringify(join(root, "test/suites/slowest.ts"))};
    printSlowest(new Map(${JSON.stringify([...durations])}), "/p", ${JSON.stringify(costs)});`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    source,
  ]);
  assert.match(stdout, /of 2 files, in seconds:\n +9\.0 +b\.test\.ts\n +1\.0 +a\.test\.ts\n/);
  assert.match(stdout, /1 files: +2\.5 s\..*\n +2\.0 +0\.5 +9\.0 +b\.test\.ts\n/);
});

test("with CI=true a checkout has the same seeds each time, other folders have drawn ones", () => {
  const inCi = drawSeeds({ CI: "true" }, root);
  assert.deepEqual(drawSeeds({ CI: "true" }, root), inCi);
  assert.equal(new Set(Object.values(inCi)).size, seedNames.length);
  assert.notDeepEqual(drawSeeds({}, root), inCi);
  assert.notDeepEqual(drawSeeds({ CI: "true" }, folder), drawSeeds({ CI: "true" }, folder));
  assert.equal(drawSeeds({ CI: "true", FAULT_SEED: "7" }, root)["FAULT_SEED"], "7");
});

/** Runs test files of these sources with runFiles(), which repeats at most two of them. */
async function runTests(
  sources: Readonly<Record<string, string>>,
  concurrency = "{ least: 2, most: 2, isRoom: () => false, watchMs: 50 }",
  options = "{}",
) {
  const ownFolder = await mkdtemp(join(folder, "run-"));
  const files = await Promise.all(
    Object.entries(sources).map(async ([name, code]) => {
      const file = join(ownFolder, `${name}.test.mjs`);
      await writeFile(file, code);
      return file;
    }),
  );
  const program = join(ownFolder, "program.mjs");
  const source = `
    import { runFiles } from ${JSON.stringify(join(root, "test/suites/run-files.ts"))};
    const { failed } = await runFiles(${JSON.stringify(files)}, ${concurrency}, 2, ${options});
    process.exitCode = failed > 0 ? 1 : 0;`;
  await writeFile(program, source);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [program], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { output, code: Number(code) };
}

/** Returns the counts of the summary, which must be there once. */
function summaryOf(output: string): Record<"tests" | "pass" | "fail", number> {
  const count = (name: string) => {
    const lines = [...output.matchAll(new RegExp(`^ℹ ${name} (\\d+)$`, "gm"))];
    assert.equal(lines.length, 1, output);
    return Number(lines[0]?.[1]);
  };
  return { tests: count("tests"), pass: count("pass"), fail: count("fail") };
}
