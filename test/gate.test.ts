// The runner of the gate: which files it repeats, what it prints, and where its seeds come from.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { drawSeeds, seedNames } from "./suites/seeds.ts";

const root = resolve(import.meta.dirname, "..");
const folder = await mkdtemp(join(tmpdir(), "hlust-gate-"));
after(async () => await rm(folder, { recursive: true }));

const passes = 'import { test } from "node:test"; test("passes", () => {});';
const fails = 'import { test } from "node:test"; test("fails", () => { throw new Error(); });';
const crashes = "process.exit(3);";
/** Fails in its first run, and passes in its second, as it finds the folder that the first made. */
const failsOnce = `
  import { mkdirSync } from "node:fs";
  import { test } from "node:test";
  test("passes", () => {});
  test("fails once", () => {
    if (mkdirSync(import.meta.filename + ".ran", { recursive: true })) throw new Error();
  });`;

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

test("with CI=true a checkout has the same seeds each time, other folders have drawn ones", () => {
  const inCi = drawSeeds({ CI: "true" }, root);
  assert.deepEqual(drawSeeds({ CI: "true" }, root), inCi);
  assert.equal(new Set(Object.values(inCi)).size, seedNames.length);
  assert.notDeepEqual(drawSeeds({}, root), inCi);
  assert.notDeepEqual(drawSeeds({ CI: "true" }, folder), drawSeeds({ CI: "true" }, folder));
  assert.equal(drawSeeds({ CI: "true", FAULT_SEED: "7" }, root)["FAULT_SEED"], "7");
});

/** Runs test files of these sources with runFiles(), which repeats at most two of them. */
async function runTests(sources: Readonly<Record<string, string>>) {
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
    process.exitCode = (await runFiles(${JSON.stringify(files)}, 2, 2, {})) > 0 ? 1 : 0;`;
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
