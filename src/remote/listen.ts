import process from "node:process";
import { UsageError, type Command } from "../cli/command.ts";
import { Arguments, describeOptions } from "../cli/options.ts";
import {
  Model_Use as Use,
  RecognitionConfig_AudioEncoding as Encoding,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { connect, profileOptions } from "./connect.ts";
import { Display } from "./display.ts";
import { chosenLanguage } from "./languages.ts";

const table = {
  language: { hint: "CODE", meaning: "what is spoken, such as is-IS or en-US" },
  rate: { hint: "HERTZ", meaning: "the sample rate of the input", fallback: "16000" },
  plain: { meaning: "words only: no punctuation, and numbers in words" },
  json: { meaning: "print each result as a line of JSON, interim results too" },
  ...profileOptions,
};

const usage = `Usage: RECORDER | hlust listen [options]

Reads samples (16 bits, little-endian, one channel) from standard input, prints each sentence once
it has been said, and shows on a terminal what is being said. For example:

  arecord --quiet --format=S16_LE --rate=16000 --channels=1 --file-type=raw | hlust listen

${describeOptions(table)}`;

export const listen: Command = {
  summary: "recognize live audio from standard input",
  async run(args, environment) {
    const options = new Arguments(table, args);
    const [unexpected] = options.positionals;
    if (unexpected !== undefined) {
      throw new UsageError(`unexpected argument ${JSON.stringify(unexpected)}`, usage);
    }
    if (process.stdin.isTTY) throw new UsageError("there is no audio on standard input", usage);
    const sampleRateHertz = options.number("rate", { min: 8_000, max: 48_000, whole: true });
    const { hlust } = connect(options.text("profile"), environment);
    const languageCode = await chosenLanguage(hlust, options.text("language"), Use.LIVE);
    const isWritten = !options.has("plain");
    const config = {
      config: {
        encoding: Encoding.LINEAR16,
        sampleRateHertz,
        languageCode,
        enableAutomaticPunctuation: isWritten,
        enableFormatting: isWritten,
      },
      interimResults: true,
    };
    const stopped = new AbortController();
    process.once("SIGINT", () => stopped.abort());
    const display = new Display();
    const { signal } = stopped;
    try {
      for await (const result of hlust.recognizeLive(config, samples(signal), {})) {
        const text = result.alternatives[0]?.transcript.trim() ?? "";
        display.clear();
        if (options.has("json")) {
          process.stdout.write(`${JSON.stringify({ text, isFinal: result.isFinal })}\n`);
        } else if (!result.isFinal) display.line(text);
        else if (text !== "") process.stdout.write(`${text}\n`);
      }
    } finally {
      display.clear();
    }
    return 0;
  },
};

/** Yields standard input until it ends, or until the signal aborts, so that the last words come. */
async function* samples(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  signal.addEventListener("abort", () => process.stdin.destroy());
  try {
    for await (const chunk of process.stdin) yield chunk;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
