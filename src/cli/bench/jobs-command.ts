import { UsageError } from "../command.ts";
import type { Arguments, OptionTable } from "../options.ts";
import { runBench, watched } from "./bench-command.ts";
import { closedLoop } from "./closed-loop.ts";
import { Distribution, type Summary } from "./distribution.ts";
import { FailureCounts, type Failure } from "./failures.ts";
import { CallFailure, HttpCaller } from "./http-caller.ts";
import { serveFiles } from "./media-server.ts";
import { distributionLines, serverLines, table, toolLines, type Line } from "./table.ts";
import { readTarget, targetOptions, type Target } from "./target.ts";
import { jobDone, submitJob } from "./transcript-job.ts";
import { ToolWatch, type ToolUse } from "./tool-watch.ts";

const options = {
  jobs: { hint: "N", meaning: "number of jobs", fallback: "1" },
  "in-flight": { hint: "N", meaning: "concurrent jobs", fallback: "1" },
  ramp: { hint: "S", meaning: "the first jobs start spread over this time", fallback: "0" },
  language: { hint: "CODE", meaning: "languageCode", fallback: "en-US" },
  "poll-ms": { hint: "MS", meaning: "how often a job is polled", fallback: "250" },
  "media-host": {
    hint: "ADDRESS",
    meaning: "address of this machine at which the server fetches files",
    fallback: "127.0.0.1",
  },
  timeout: { hint: "S", meaning: "a job that takes longer counts as failed", fallback: "600" },
  ...targetOptions,
} as const satisfies OptionTable;

const about = `Submits transcript jobs for media, given as URLs or as files, and measures the time until each has its transcript. Files
are served by this tool over HTTP while it runs: the server must be allowed to fetch from there (for
Hlust: HLUST_ALLOW_MEDIA_FROM=127.0.0.1).`;

interface JobsLoad {
  readonly jobs: { readonly started: number; readonly failed: number };
  readonly failures: readonly Failure[];
  /** The length of the transcribed recordings. */
  readonly audioSeconds: number;
  readonly wallMs: number;
  readonly submitMs: Summary | undefined;
  /** The time from the submission to the poll that returned SUCCESS. */
  readonly doneMs: Summary | undefined;
  readonly tool: ToolUse;
}

/** Runs `hlust bench jobs`. */
export function benchJobs(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const usage = { call: "hlust bench jobs [options] <url or file>...", about, options };
  return runBench(usage, args, async (read) => {
    const load = readOptions(read);
    const target = await readTarget(read, environment);
    await using media = await serveFiles(load.media, load.mediaHost);
    const { result, server } = await watched(target.pids, () =>
      runLoad({ ...load, media: media.urls }, target),
    );
    const { started, failed } = result.jobs;
    const speed = result.audioSeconds / (result.wallMs / 1000);
    const lines: Line[] = [
      ["jobs", `${started}, ${load.inFlight} at a time, at ${target.url}: ${failed} failed`],
      ...result.failures.map(({ kind, count, example }): Line => [
        "",
        `${count} x ${kind}: ${example}`,
      ]),
      [
        "throughput",
        `${result.audioSeconds.toFixed(0)} s of audio, ${speed.toFixed(1)} x real time`,
      ],
      ...distributionLines([
        ["submit", result.submitMs],
        ["transcript", result.doneMs],
      ]),
      ...serverLines(server, { name: "job", count: started }),
      ...toolLines(result.tool),
    ];
    return { report: { ...result, server }, text: table(lines), isGood: failed === 0 };
  });
}

type Load = ReturnType<typeof readOptions>;

function readOptions(args: Arguments<typeof options>) {
  const media = args.positionals;
  if (media.length === 0) throw new UsageError("no media: give a URL or a file");
  return {
    count: args.number("jobs", { min: 1, max: 1_000_000, whole: true }),
    inFlight: args.number("in-flight", { min: 1, max: 10_000, whole: true }),
    rampMs: 1000 * args.number("ramp", { min: 0, max: 3600 }),
    languageCode: args.text("language") ?? "",
    pollMs: args.number("poll-ms", { min: 1, max: 60_000 }),
    mediaHost: args.text("media-host") ?? "",
    timeoutMs: 1000 * args.number("timeout", { min: 0.1, max: 24 * 3600 }),
    media,
  };
}

async function runLoad(load: Load, target: Target): Promise<JobsLoad> {
  using tool = new ToolWatch();
  await using caller = new HttpCaller(target, Math.min(load.timeoutMs, 60_000));
  const [submits, dones] = [new Distribution(), new Distribution()];
  const failures = new FailureCounts();
  let audioSeconds = 0;
  const wallMs = await closedLoop(load, async (index) => {
    const startedAt = performance.now();
    try {
      const uri = load.media[index % load.media.length] ?? "";
      const name = await submitJob(caller, uri, load.languageCode);
      submits.add(performance.now() - startedAt);
      const endsAt = startedAt + load.timeoutMs;
      audioSeconds += await jobDone(caller, name, { pollMs: load.pollMs, endsAt });
      dones.add(performance.now() - startedAt);
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      failures.add(error.kind, error.message);
    }
  });
  return {
    jobs: { started: load.count, failed: failures.count },
    failures: failures.all,
    audioSeconds,
    wallMs,
    submitMs: submits.summary(),
    doneMs: dones.summary(),
    tool: tool.stop(),
  };
}
