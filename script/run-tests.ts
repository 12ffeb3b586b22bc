// Runs the groups of tests that its arguments name (unit or system), together, for the npm scripts
// "test", "test:unit" and "test:system". --test-name-pattern selects tests. --costs, as root,
// measures the CPU time of each file with all processes that it starts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { watchFreeCores } from "../test/suites/free-cores.ts";
import { isInMemory, runInMemory } from "../test/suites/memory-folder.ts";
import { runFiles } from "../test/suites/run-files.ts";
import { drawSeeds } from "../test/suites/seeds.ts";
import { printSlowest } from "../test/suites/slowest.ts";
import { filesOfGroups, isGroup } from "../test/suites/suites.ts";
import { measuredSlowness } from "../test/fixtures/cpu-slowness.ts";

/**
 * How many test files run concurrently: four keep two cores busy most of the time, and up to eight
 * run while a core is idle, as when several files wait for leases. More would only make each
 * other's calls slow.
 */
const concurrency = { least: 4, most: 8, isRoom: watchFreeCores(), watchMs: 2000 };
/** The maximum duration of a test that names none. */
const timeoutMs = 180_000;

/**
 * How many files are run a second time after they failed, alone. More do not fail by chance.
 */
const repeatedMax = 8;

const root = resolve(import.meta.dirname, "..");
const { values: options, positionals } = parseArgs({
  options: {
    "test-name-pattern": { type: "string", multiple: true, default: [] },
    costs: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const groups = positionals.filter(isGroup);
if (groups.length === 0 || groups.length < positionals.length) {
  throw new Error("usage: run-tests.ts unit|system... [--test-name-pattern PATTERN] [--costs]");
}
if (!isInMemory()) {
  const status = await runInMemory(process.argv);
  if (status !== undefined) process.exit(status);
}
const seeds = drawSeeds(process.env, root);
Object.assign(process.env, seeds);
const slowness = measuredSlowness();
process.env["CPU_SLOWNESS"] = `${slowness}`;
process.env["NODE_COMPILE_CACHE"] ??= join(root, "node_modules/.cache/node");
/** Where each file writes what it took. */
const costs = options.costs ? mkdtempSync(join(tmpdir(), "hlust-costs-")) : undefined;
if (costs !== undefined) process.env["TEST_COSTS"] = costs;
const stopped = new AbortController();

/** Runs the files of the groups together, in the order in which filesOfGroups() returns them. */
async function runGroups(): Promise<void> {
  const seedNames = Object.entries(seeds).map(([name, seed]) => `${name}=${seed}`);
  const machine = `CPU_SLOWNESS=${slowness.toFixed(2)}`;
  const where = isInMemory() ? "in memory" : "on disk";
  process.stdout.write(
    `${groups.join(" and ")} tests: ${seedNames.join(" ")} ${machine}, files ${where}\n`,
  );
  const files = filesOfGroups(groups).map((file) => join(root, file));
  const { failed, durations } = await runFiles(files, concurrency, repeatedMax, {
    cwd: root,
    timeout: timeoutMs * slowness,
    execArgv: [`--import=${join(root, "test/fixtures/property-seed.ts")}`],
    testNamePatterns: options["test-name-pattern"],
    signal: stopped.signal,
  });
  printSlowest(durations, root, costs);
  if (failed > 0) process.exitCode = 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    process.exitCode = 1;
    stopped.abort();
  });
}
await runGroups();
if (costs !== undefined) rmSync(costs, { recursive: true });
