// Runs the groups of tests that its arguments name (unit or system), one after the other, for the
// npm scripts "test", "test:unit" and "test:system". Further arguments are passed to `node --test`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import process from "node:process";
import { drawSeeds } from "../test/suites/seeds.ts";
import { filesOfGroup, isGroup, type Group } from "../test/suites/suites.ts";

const root = resolve(import.meta.dirname, "..");
const args = process.argv.slice(2);
const groups = args.filter(isGroup);
const extra = args.filter((arg) => !isGroup(arg));
const seeds = drawSeeds(process.env);

/** Returns the exit code of the group's `node --test`. */
async function runGroup(group: Group): Promise<number> {
  const reporter = join(root, "test/suites/gate-reporter.ts");
  const program = [
    `--import=${join(root, "test/fixtures/property-seed.ts")}`,
    "--test",
    "--test-concurrency=3",
    "--test-timeout=180000",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${reporter}`,
    "--test-reporter-destination=stdout",
  ];
  const env = {
    NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node"),
    ...process.env,
    ...seeds,
  };
  const seedNames = Object.entries(seeds).map(([name, seed]) => `${name}=${seed}`);
  process.stdout.write(`${group} tests: ${seedNames.join(" ")}\n`);
  const child = spawn(process.execPath, [...program, ...extra, ...filesOfGroup(group)], {
    cwd: root,
    env,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
}

if (groups.length === 0) throw new Error("usage: run-tests.ts unit|system...");
for (const group of groups) {
  // The next group runs even if this one fails.
  process.exitCode = Math.max(Number(process.exitCode ?? 0), await runGroup(group));
}
