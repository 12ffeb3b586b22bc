import type { Arguments, OptionTable } from "../options.ts";
import { UsageError } from "../command.ts";
import { runBench, watched } from "./bench-command.ts";
import { closedLoop } from "./closed-loop.ts";
import { Distribution, type Summary } from "./distribution.ts";
import { FailureCounts, type Failure } from "./failures.ts";
import { compareFinals, type StreamFinals } from "./finals.ts";
import { CallFailure, HttpCaller } from "./http-caller.ts";
import { readRecording, secondsOf, syntheticRecording, type SentRecording } from "./recording.ts";
import { serverLines, distributionLines, table, toolLines, type Line } from "./table.ts";
import { readTarget, targetOptions, type Target } from "./target.ts";
import { ToolWatch, type ToolUse } from "./tool-watch.ts";

const options = {
  calls: { hint: "N", meaning: "number of calls", fallback: "20" },
  "in-flight": { hint: "N", meaning: "concurrent calls", fallback: "1" },
  ramp: { hint: "S", meaning: "the first calls start spread over this time", fallback: "0" },
  language: { hint: "CODE", meaning: "languageCode", fallback: "en-US" },
  timeout: { hint: "S", meaning: "a call that takes longer counts as failed", fallback: "60" },
  ...targetOptions,
} as const satisfies OptionTable;

const about = `Sends WAV files (16-bit PCM, one channel, shorter than 30 s; one after the other) to speech:recognize and measures the
time to each answer. Without a file: tone and silence, which the scripted engine recognizes as words.`;

/** The path of short recognition (§4.8). Its audio must be shorter than `audioSecondsMax` (§8). */
const path = "/v2beta1/speech:recognize";
const audioSecondsMax = 30;

interface RecognizeLoad {
  readonly calls: { readonly started: number; readonly failed: number };
  readonly failures: readonly Failure[];
  readonly audioSeconds: number;
  readonly wallMs: number;
  /** The number of calls whose response differs from most responses for the same recording. */
  readonly differing: number;
  readonly answerMs: Summary | undefined;
  readonly tool: ToolUse;
}

/** Runs `hlust bench recognize`. */
export function benchRecognize(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const usage = { call: "hlust bench recognize [options] [file.wav...]", about, options };
  return runBench(usage, args, async (read) => {
    const load = await readOptions(read);
    const target = await readTarget(read, environment);
    const { result, server } = await watched(target.pids, () => runLoad(load, target));
    const { started, failed } = result.calls;
    const speed = result.audioSeconds / (result.wallMs / 1000);
    const rate = started / (result.wallMs / 1000);
    const lines: Line[] = [
      ["calls", `${started}, ${load.inFlight} at a time, at ${target.url}: ${failed} failed`],
      ...result.failures.map(({ kind, count, example }): Line => [
        "",
        `${count} x ${kind}: ${example}`,
      ]),
      ["differing", `${result.differing} of the answers`],
      ["throughput", `${rate.toFixed(1)} calls a second, ${speed.toFixed(1)} x real time`],
      ...distributionLines([["answer", result.answerMs]]),
      ...serverLines(server, { name: "call", count: started }),
      ...toolLines(result.tool),
    ];
    return {
      report: { ...result, server },
      text: table(lines),
      isGood: failed === 0 && result.differing === 0,
    };
  });
}

type Load = Awaited<ReturnType<typeof readOptions>>;

async function readOptions(args: Arguments<typeof options>) {
  const load = {
    count: args.number("calls", { min: 1, max: 10_000_000, whole: true }),
    inFlight: args.number("in-flight", { min: 1, max: 10_000, whole: true }),
    rampMs: 1000 * args.number("ramp", { min: 0, max: 3600 }),
    languageCode: args.text("language") ?? "",
    timeoutMs: 1000 * args.number("timeout", { min: 0.1, max: 3600 }),
  };
  const files = await Promise.all(args.positionals.map(readRecording));
  const recordings = files.length > 0 ? files : [syntheticRecording(1)];
  for (const recording of recordings) {
    const seconds = secondsOf(recording);
    if (seconds < audioSecondsMax) continue;
    throw new UsageError(
      `${recording.name} must be shorter than 30 s, not ${seconds.toFixed(1)} s`,
    );
  }
  return { ...load, recordings };
}

async function runLoad(load: Load, target: Target): Promise<RecognizeLoad> {
  const { recordings, languageCode, timeoutMs } = load;
  using tool = new ToolWatch();
  await using caller = new HttpCaller(target, timeoutMs);
  const bodies = recordings.map((recording) => bodyOf(recording, languageCode));
  const answers: StreamFinals[] = [];
  const times = new Distribution();
  const failures = new FailureCounts();
  let audioSeconds = 0;
  const wallMs = await closedLoop(load, async (index) => {
    const which = index % recordings.length;
    const [recording, body] = [recordings[which], bodies[which]];
    if (!recording || !body) return;
    const startedAt = performance.now();
    try {
      const answer = await caller.call("POST", path, body);
      times.add(performance.now() - startedAt);
      audioSeconds += secondsOf(recording);
      answers.push({ recording: recording.name, texts: [JSON.stringify(answer)] });
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      failures.add(error.kind, error.message);
    }
  });
  return {
    calls: { started: load.count, failed: failures.count },
    failures: failures.all,
    audioSeconds,
    wallMs,
    differing: compareFinals(answers).differingStreams,
    answerMs: times.summary(),
    tool: tool.stop(),
  };
}

function bodyOf({ samples, sampleRateHertz }: SentRecording, languageCode: string): Buffer {
  const config = { encoding: "LINEAR16", sampleRateHertz, languageCode };
  return Buffer.from(JSON.stringify({ config, audio: { content: samples.toString("base64") } }));
}
