import type { Arguments, OptionTable } from "../options.ts";
import { runBench, watched } from "./bench-command.ts";
import { readRecording, secondsOf, syntheticRecording } from "./recording.ts";
import type { ServerUse } from "./server-watch.ts";
import { runStreamLoad, type StreamLoad, type StreamLoadOptions } from "./stream-load.ts";
import { distributionLines, serverLines, table, toolLines, type Line } from "./table.ts";
import { readTarget, targetOptions } from "./target.ts";

const options = {
  streams: { hint: "N", meaning: "concurrent streams", fallback: "1" },
  rate: {
    hint: "X",
    meaning: "seconds of audio a second: 1 is real time, 0 as fast as the server accepts it",
    fallback: "1",
  },
  "chunk-ms": { hint: "MS", meaning: "audio in one message", fallback: "100" },
  duration: { hint: "S", meaning: "seconds of audio of each stream; default: its file, once" },
  ramp: {
    hint: "S",
    meaning: "the starts are spread over this time; default: 5 ms a stream, 10 s at most",
  },
  language: { hint: "CODE", meaning: "languageCode", fallback: "en-US" },
  interim: { hint: "YES", meaning: "interimResults: true or false", fallback: "true" },
  "word-times": {
    hint: "YES",
    meaning: "enableWordTimeOffsets: true or false; without it lag is unknown",
    fallback: "true",
  },
  "min-silence": {
    hint: "MS",
    meaning: "silence after which the server ends an utterance; only used to measure lag",
    fallback: "500",
  },
  timeout: {
    hint: "S",
    meaning: "time limit for opening and closing a stream",
    fallback: "30",
  },
  ...targetOptions,
} as const satisfies OptionTable;

const about = `Sends WAV files (16-bit PCM, one channel; one after the other to the streams) as live audio. Without a file:
tone and silence, which the scripted engine recognizes as words.

Lag is the time since the chunk that a message waited for was sent: for an interim result the chunk with the end of
its last word; for a final result the chunk that completes min-silence after that end, or the last message if the
stream ended before.`;

/** Runs `hlust bench stream`. */
export function benchStream(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const usage = { call: "hlust bench stream [options] [file.wav...]", about, options };
  return runBench(usage, args, async (read) => {
    const load = await readOptions(read);
    const { pids, ...target } = await readTarget(read, environment);
    const { result, server } = await watched(pids, () => runStreamLoad({ ...load, target }));
    const { failed } = result.streams;
    return {
      report: { ...result, server },
      text: describe({ ...load, url: target.url }, result, server),
      isGood: failed === 0 && result.lost === 0 && result.differingStreams === 0,
    };
  });
}

async function readOptions(
  args: Arguments<typeof options>,
): Promise<Omit<StreamLoadOptions, "target">> {
  const streams = args.number("streams", { min: 1, max: 60_000, whole: true });
  const isGiven = (name: "duration" | "ramp") => args.text(name) !== undefined;
  const yes = (name: "interim" | "word-times") => args.oneOf(name, ["true", "false"]) === "true";
  const load = {
    streams,
    rate: args.number("rate", { min: 0, max: 1000 }),
    chunkMs: args.number("chunk-ms", { min: 1, max: 10_000 }),
    rampMs: isGiven("ramp")
      ? 1000 * args.number("ramp", { min: 0, max: 3600 })
      : Math.min(10_000, 5 * streams),
    durationMs: isGiven("duration")
      ? 1000 * args.number("duration", { min: 0.001, max: 7 * 24 * 3600 })
      : undefined,
    languageCode: args.text("language") ?? "",
    interim: yes("interim"),
    wordTimes: yes("word-times"),
    silenceMs: args.number("min-silence", { min: 0, max: 60_000 }),
    timeoutMs: 1000 * args.number("timeout", { min: 0.1, max: 3600 }),
  };
  const recordings = await Promise.all(args.positionals.map(readRecording));
  return { ...load, recordings: recordings.length > 0 ? recordings : [syntheticRecording()] };
}

function describe(
  load: Omit<StreamLoadOptions, "target"> & { readonly url: string },
  result: StreamLoad,
  server: ServerUse | undefined,
): string {
  const { streams, failures, messages, closeCodes, tool } = result;
  const pace = load.rate === 0 ? "unpaced" : `at ${load.rate} x real time`;
  const files = load.recordings.map((each) => `${each.name} (${secondsOf(each).toFixed(1)} s)`);
  const finals = `${result.finals}, lost ${result.lost}, differing streams ${result.differingStreams}`;
  const speed = result.audioSeconds / (result.wallMs / 1000);
  const lines: Line[] = [
    ["streams", `${load.streams} of ${load.chunkMs} ms chunks, ${pace}, at ${load.url}`],
    ["audio", `${files.slice(0, 5).join(", ")}${files.length > 5 ? ", ..." : ""}`],
    [
      "sent",
      `${result.chunks} chunks, ${result.audioSeconds.toFixed(0)} s of audio in ${(result.wallMs / 1000).toFixed(1)} s (${speed.toFixed(1)} x)`,
    ],
    ["ended", `${streams.ended} succeeded, ${streams.failed} failed`],
    ...failures.map(({ kind, count, example }): Line => ["", `${count} x ${kind}: ${example}`]),
    [
      "closed with",
      Object.entries(closeCodes)
        .map(([code, count]) => `${code}: ${count}`)
        .join(", "),
    ],
    ["messages", `${messages.interim} interim, ${messages.final} final`],
    ["finals", finals],
    ...distributionLines([
      ["open", result.openMs],
      ["interim lag", result.interimLagMs],
      ["final lag", result.finalLagMs],
      ["last final lag", result.lastFinalLagMs],
      ["close", result.closeMs],
    ]),
    ...serverLines(server, { name: "chunk", count: result.chunks }),
    ...toolLines(tool),
  ];
  return table(lines);
}
