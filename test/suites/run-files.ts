// Runs test files, and runs those that failed a second time, one after the other.
import process from "node:process";
import { Transform } from "node:stream";
import { spec, type TestEvent } from "node:test/reporters";
import report from "./gate-reporter.ts";
import { runEach, type Concurrency, type RunOptions } from "./run-each.ts";

/** How often tests ended in each way, by the names of the summary of node:test. */
type Counts = Record<(typeof countNames)[number], number>;
const countNames = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"] as const;

/** The wall time of each file, in milliseconds. */
export type Durations = Map<string, number>;

/** A line of the summary that node:test prints at the end of a run. */
const summaryLine = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/**
 * Runs the test files with this concurrency, and prints what they report. If at most `repeatedMax`
 * files failed, runs these again, each alone, since a busy machine can make a test miss a deadline.
 * Prints the summary of node:test, in which the second run of a file replaces the first, and the
 * files that only failed the first time. Returns the number of files that failed in their last run,
 * and how long each file took when it ran the first time.
 */
export async function runFiles(
  files: readonly string[],
  concurrency: Concurrency,
  repeatedMax: number,
  options: RunOptions,
): Promise<{ readonly failed: number; readonly durations: Durations }> {
  const startMs = performance.now();
  const first = await runOnce(files, concurrency, options);
  const isStopped = options.signal?.aborted === true;
  const repeated = first.failed.size <= repeatedMax && !isStopped ? [...first.failed] : [];
  if (first.failed.size > repeatedMax) {
    process.stdout.write(`${first.failed.size} files failed: too many to repeat.\n`);
  }
  let failed = first.failed;
  const counts = first.countsOf;
  if (repeated.length > 0) {
    process.stdout.write(`Files that failed are repeated, one after the other:\n`);
    const second = await runOnce(repeated, alone, options);
    for (const file of repeated) counts.set(file, second.countsOf.get(file) ?? crashed);
    failed = second.failed;
    for (const file of repeated.filter((name) => !failed.has(name))) {
      process.stdout.write(`flaky: ${file} failed while others ran, and passed alone\n`);
    }
  }
  printSummary([...counts.values()], performance.now() - startMs);
  return { failed: failed.size, durations: first.durations };
}

const alone: Concurrency = { least: 1, most: 1, isRoom: () => false, watchMs: 0 };

/** The counts of a file that ended before it reported any. */
const crashed: Counts = {
  tests: 1,
  suites: 0,
  pass: 0,
  fail: 1,
  cancelled: 0,
  skipped: 0,
  todo: 0,
};

/** Runs the files once. Returns the counts and duration of each, and the files that failed. */
async function runOnce(files: readonly string[], concurrency: Concurrency, options: RunOptions) {
  const failed = new Set<string>();
  const countsOf = new Map<string, Counts>();
  const durations: Durations = new Map();
  const events = runEach(files, concurrency, options);
  events.on("data", ({ type, data }: TestEvent) => {
    if (type === "test:fail") {
      const isExpected = data.todo !== undefined && data.todo !== false;
      if (!isExpected) failed.add(entryFileOf(data) ?? "a file without a name");
    }
    if (type !== "test:summary") return;
    const file = entryFileOf(data);
    if (file === undefined) return;
    const { tests, suites, passed: pass, cancelled, skipped, todo } = data.counts;
    const fail = "failed" in data.counts ? Number(data.counts.failed) : tests - pass;
    countsOf.set(file, { tests, suites, pass, fail, cancelled, skipped, todo });
    durations.set(file, data.duration_ms);
  });
  const reports = [events.pipe(withoutSummary()).pipe(new spec()), events.compose(report)];
  await Promise.all(
    reports.map(async (lines) => {
      for await (const line of lines) process.stdout.write(line);
    }),
  );
  for (const file of failed) if (!countsOf.has(file)) countsOf.set(file, crashed);
  return { failed, countsOf, durations };
}

/** Returns the file that was passed to run(), which may have loaded the file of the test. */
function entryFileOf(data: {
  file?: string | undefined;
  entryFile?: string | undefined;
}): string | undefined {
  return data.entryFile ?? data.file;
}

/** Returns a stream that drops the summary of node:test, which would count the first run. */
function withoutSummary(): Transform {
  return new Transform({
    objectMode: true,
    transform(event: TestEvent, _encoding, callback) {
      const isSummary = event.type === "test:diagnostic" && summaryLine.test(event.data.message);
      callback(null, isSummary ? undefined : event);
    },
  });
}

function printSummary(counts: readonly Counts[], durationMs: number): void {
  for (const name of countNames) {
    const total = counts.reduce((sum, ofFile) => sum + ofFile[name], 0);
    process.stdout.write(`ℹ ${name} ${total}\n`);
  }
  process.stdout.write(`ℹ duration_ms ${durationMs.toFixed(1)}\n`);
}
