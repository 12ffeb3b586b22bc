import { globSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/**
 * Test files that share a process, by the name of the suite's file: loading what they import costs
 * up to 0.4 s of CPU for each process. They run one after the other, so a suite stays under a
 * minute. Patterns are relative to the project's root.
 */
const suites: Readonly<Record<string, readonly string[]>> = {
  accounts: ["src/accounts/*.test.ts", "src/auth/*.test.ts"],
  client: ["src/client/*.test.ts", "src/cli/**/*.test.ts", "src/settings/*.test.ts"],
  console: ["src/console/**/*.test.ts"],
  engines: ["src/engines/{ctc,sherpa-onnx,models}/*.test.ts", "src/engines/*.test.ts"],
  media: ["src/media/*.test.ts"],
  server: ["src/server/*.test.ts", "src/std/*.test.ts", "src/*.test.ts", "src/speech/*.test.ts"],
  transcoding: ["src/transcoding/**/*.test.ts"],
  transcripts: ["src/transcripts/**/*.test.ts", "src/webhooks/*.test.ts"],
};

/**
 * Files of these folders that need a process of their own: they measure or kill processes, replace
 * timers, or take long.
 */
const alone: readonly string[] = [
  "src/auth/refused-attempts.test.ts",
  "src/cli/bench/server-watch.test.ts",
  "src/engines/engine-*.test.ts",
  "src/engines/model-processes.test.ts",
  "src/engines/watchdog.test.ts",
  "src/engines/run-queue.test.ts",
  "src/engines/ctc/ctc-{engine,speech}.test.ts",
  "src/engines/sherpa-onnx/{diarizer,sherpa-engine}.test.ts",
  "src/media/{fetch-guard,s3-store}.test.ts",
  "src/server/rest-streams.test.ts",
  "src/transcoding/{long-input,readme}.test.ts",
];

/** The files of a suite, in order, relative to the project's root. */
export function filesOf(name: string): readonly string[] {
  const own = globSync(alone, { cwd: root });
  return globSync(suites[name] ?? [], { cwd: root })
    .filter((file) => !own.includes(file))
    .toSorted();
}

/**
 * What `node --test` is given to run every test once: the suites, and each file that is in none.
 * Throws where a suite has no file.
 */
export function everyTestFile(): readonly string[] {
  const all = globSync(["{src,test,bench}/**/*.test.ts"], { cwd: root });
  const shared = new Set<string>();
  for (const name of Object.keys(suites)) {
    if (!all.includes(`test/suites/${name}.test.ts`)) throw new Error(`no file runs ${name}`);
    for (const file of filesOf(name)) shared.add(file);
  }
  return all.filter((file) => !shared.has(file)).toSorted();
}
