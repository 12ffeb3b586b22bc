// Runs the groups of tests that its arguments name (unit or system), one after the other, for the
// npm scripts "test", "test:unit" and "test:system". --test-name-pattern selects tests.
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { runFiles } from "../test/suites/run-files.ts";
import { drawSeeds } from "../test/suites/seeds.ts";
import { filesOfGroup, isGroup, type Group } from "../test/suites/suites.ts";
import { measuredSlowness } from "../test/fixtures/cpu-slowness.ts";

/**
 * How many test files run concurrently. Half of the time is spent waiting, such as for leases, so
 * that four files keep two cores busy. More would only make each other's calls slow.
 */
const concurrency = 4;
/** The maximum duration of a test that names none. */
const timeoutMs = 180_000;

/**
 * How many files of a group are run a second time after they failed, alone. More do not fail by
 * chance.
 */
const repeatedMax = 8;

const root = resolve(import.meta.dirname, "..");
const { values: options, positionals } = parseArgs({
  options: { "test-name-pattern": { type: "string", multiple: true, default: [] } },
  allowPositionals: true,
});
const groups = positionals.filter(isGroup);
const seeds = drawSeeds(process.env, root);
Object.assign(process.env, seeds);
const slowness = measuredSlowness();
process.env["CPU_SLOWNESS"] = `${slowness}`;
process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node");
const stopped = new AbortController();

/** Runs the files of a group in the order in which filesOfGroup() returns them. */
async function runGroup(group: Group): Promise<void> {
  const seedNames = Object.entries(seeds).map(([name, seed]) => `${name}=${seed}`);
  const machine = `CPU_SLOWNESS=${slowness.toFixed(2)}`;
  process.stdout.write(`${group} tests: ${seedNames.join(" ")} ${machine}\n`);
  // `node --test` would sort the files.
  const files = filesOfGroup(group).map((file) => join(root, file));
  const failed = await runFiles(files, concurrency, repeatedMax, {
    cwd: root,
    timeout: timeoutMs * slowness,
    execArgv: [`--import=${join(root, "test/fixtures/property-seed.ts")}`],
    testNamePatterns: options["test-name-pattern"],
    signal: stopped.signal,
  });
  if (failed > 0) process.exitCode = 1;
}

if (groups.length === 0 || groups.length < positionals.length) {
  throw new Error("usage: run-tests.ts unit|system... [--test-name-pattern PATTERN]");
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    process.exitCode = 1;
    stopped.abort();
  });
}
for (const group of groups) {
  // The next group runs even if this one fails.
  if (!stopped.signal.aborted) await runGroup(group);
}
