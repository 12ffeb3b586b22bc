// Runs the tests of `npm run test:long` in slices of 20 minutes (SOAK_MINUTES) until Ctrl-C, or for
// the number of slices in its argument, for example `script/soak 12`. Each slice has its own seed
// and runs the parts in turn, each time with different cases. After 20 minutes, or after Ctrl-C,
// the slice ends when its current part has ended; a second Ctrl-C ends it immediately. An entry for
// each slice is added to bench/SOAK.md. SOAK_SEED repeats a slice.
import { spawn, execFileSync, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, globSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { seedNames } from "../test/suites/seeds.ts";

/** Test files that run together, with the number of cases. A part takes several minutes. */
interface Part {
  readonly name: string;
  readonly files: string;
  readonly env?: Readonly<Record<string, string>>;
}

const parts: readonly Part[] = [
  { name: "200 archives", files: "test/archive/archive.test.ts", env: { ARCHIVE_RUNS: "200" } },
  { name: "64 kills", files: "test/fault/transcripts.test.ts", env: { FAULT_KILLS: "64" } },
  {
    name: "25 rounds of engine kills",
    files: "src/engines/pool/engine-pool-faults.test.ts",
    env: { ENGINE_ROUNDS: "25" },
  },
  { name: "10,000 bad requests of each kind", files: "test/spec/bad-requests.test.ts" },
  { name: "live recognition", files: "src/engines/pocketsphinx/live-recognition.test.ts" },
  { name: "transcoding", files: "src/transcoding/**/*.test.ts" },
  { name: "editor", files: "src/console/transcript/edit/**/*.test.ts" },
  { name: "texts and limits", files: "src/{auth,cues,std,transcripts,writing}/**/*.test.ts" },
  { name: "edited texts, saved", files: "test/spec/{edited-texts,modify-segments}.test.ts" },
];

interface PartResult {
  readonly tests: number;
  readonly isGood: boolean;
}

const root = resolve(import.meta.dirname, "..");
const journal = join(root, "bench/SOAK.md");
const sliceMs = 60_000 * Number(process.env["SOAK_MINUTES"] ?? 20);
const slices = Number(process.argv[2] ?? Infinity);

const stopping = new AbortController();
let running: ChildProcess | undefined;
process.on("SIGINT", () => {
  if (stopping.signal.aborted && running?.pid !== undefined) process.kill(-running.pid, "SIGKILL");
  stopping.abort();
  console.log("stops when the running tests have ended; Ctrl-C again ends them immediately");
});

for (let slice = 1; slice <= slices && !stopping.signal.aborted; slice++) {
  const repeated = slice === 1 ? process.env["SOAK_SEED"] : undefined;
  const isGood = await runSlice(slice, repeated ? Number(repeated) : randomInt(1, 2 ** 30));
  if (!isGood) process.exitCode = 1;
}

async function runSlice(slice: number, seed: number): Promise<boolean> {
  const startedAt = new Date();
  const commit = shownCommit();
  console.log(`slice ${slice}: SOAK_SEED=${seed}, ${commit}`);
  const counts = new Map<string, number>();
  const failures: string[] = [];
  let tests = 0;
  const mayStart = () => !stopping.signal.aborted && Date.now() - startedAt.getTime() < sliceMs;
  for (let turn = 0; mayStart(); turn++) {
    const part = parts[turn % parts.length];
    if (!part) break;
    const result = await runPart(part, seed + turn);
    // A part that was ended by a second Ctrl-C has no result.
    if (!result) break;
    tests += result.tests;
    counts.set(part.name, (counts.get(part.name) ?? 0) + 1);
    if (!result.isGood) failures.push(`${part.name}, ${commandOf(part, seed + turn).shown}`);
  }
  const ran = [...counts].map(([name, times]) => `${times} x ${name}`).join(", ");
  const minutes = ((Date.now() - startedAt.getTime()) / 60_000).toFixed(1);
  const result =
    failures.length > 0 ? "FAILED" : stopping.signal.aborted ? "passed, stopped early" : "passed";
  const when = startedAt.toISOString().slice(0, 16).replace("T", " ");
  const lines = [
    `- ${when}, ${commit}, slice ${slice}, seed ${seed}: **${result}**; ${minutes} min, ${tests} tests: ${ran || "nothing"}`,
    ...failures.map((failure) => `  - failed: ${failure}`),
  ];
  appendFileSync(journal, `${lines.map(wrapped).join("\n")}\n`);
  console.log(lines.join("\n"));
  return failures.length === 0;
}

/** Runs a part and returns its result, or undefined if the part was killed. */
async function runPart(part: Part, seed: number): Promise<PartResult | undefined> {
  const { args, env } = commandOf(part, seed);
  // The tests have their own process group, so that Ctrl-C in the terminal does not reach them.
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  running = child;
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const [code, signal] = await once(child, "close");
  running = undefined;
  if (signal === "SIGKILL") return undefined;
  const isGood = code === 0;
  const tests = Number(/^ℹ tests (\d+)$/m.exec(output)?.[1] ?? 0);
  console.log(`  ${part.name}: ${isGood ? "passed" : "FAILED"}, ${tests} tests`);
  if (!isGood) console.log(`${output}\nTo repeat it: ${commandOf(part, seed).shown}`);
  return { tests, isGood };
}

function commandOf({ files, env: sizes }: Part, seed: number) {
  const seeds = Object.fromEntries(seedNames.map((name) => [name, `${seed}`]));
  const env = { PROPERTY_RUNS: "all", ...sizes, ...seeds };
  const options = [
    "--import",
    "./test/fixtures/property-seed.ts",
    "--test",
    "--test-concurrency=1",
  ];
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return {
    env,
    args: [...options, ...globSync(files, { cwd: root })],
    shown: [...set, "node", ...options, `'${files}'`].join(" "),
  };
}

/**
 * Returns the commit, followed by a plus sign if anything except the journal has changed since.
 */
function shownCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
  const changed = git("status", "--porcelain", "--", ".", ":!bench/SOAK.md");
  return `${git("rev-parse", "--short", "HEAD").trim()}${changed === "" ? "" : "+"}`;
}

/** Wraps a line at 100 columns. */
function wrapped(line: string): string {
  const indent = " ".repeat(line.indexOf("-") + 2);
  const rows: string[] = [];
  let row = "";
  for (const word of line.split(/(?<=\S) /)) {
    if (row !== "" && row.length + 1 + word.length > 100) {
      rows.push(row);
      row = indent + word;
    } else row = row === "" ? word : `${row} ${word}`;
  }
  return [...rows, row].join("\n");
}
