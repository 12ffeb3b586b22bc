import { writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import process from "node:process";
import { ConnectError } from "@connectrpc/connect";
import { UsageError, type Command } from "../cli/command.ts";
import { Arguments, describeOptions } from "../cli/options.ts";
import type { HlustClient } from "../client/hlust-client.ts";
import { Model_Use as Use } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  type TranscriptJob,
  TranscriptMetadata_FileType as FileType,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { connect, profileOptions } from "./connect.ts";
import { Display } from "./display.ts";
import { exported, formatNames, formatOf, type Format } from "./formats.ts";
import { chosenLanguage } from "./languages.ts";
import type { Profile } from "./profiles.ts";
import { uploadFile } from "./upload-file.ts";
import { watchJob } from "./watch-job.ts";

const table = {
  language: { hint: "CODE", meaning: "what is spoken, such as is-IS or en-US" },
  format: { hint: "NAME", meaning: formatNames, fallback: "txt" },
  output: { hint: "PATH", meaning: "the file, or with several recordings the folder, to write to" },
  force: { meaning: "write over files that exist" },
  plain: { meaning: "words only: no punctuation, and numbers in words" },
  "no-wait": { meaning: "submit, and print the names of the jobs" },
  json: { meaning: "print a line of JSON for each recording" },
  ...profileOptions,
};

const usage = `Usage: hlust transcribe RECORDING... [options]

A recording is a file with sound or video, or a URL that the service can load.

${describeOptions(table)}`;

/** A recording on its way to a transcript. */
interface Transcription {
  readonly hlust: HlustClient;
  readonly profile: Profile;
  readonly languageCode: string;
  readonly isPlain: boolean;
  readonly display: Display;
  readonly signal: AbortSignal;
}

export const transcribe: Command = {
  summary: "transcribe recordings",
  async run(args, environment) {
    const options = new Arguments(table, args);
    const inputs = options.positionals;
    if (inputs.length === 0) throw new UsageError("no recording is named", usage);
    const format = formatOf(options.text("format") ?? "");
    const { hlust, profile } = connect(options.text("profile"), environment);
    const stopped = new AbortController();
    process.once("SIGINT", () => stopped.abort());
    const languageCode = await chosenLanguage(hlust, options.text("language"), Use.JOB);
    const display = new Display();
    const isPlain = options.has("plain");
    const { signal } = stopped;
    const about = { hlust, profile, languageCode, isPlain, display, signal };
    let failed = 0;
    for (const input of inputs) {
      try {
        const name = await submit(about, input);
        const job = options.has("no-wait") ? undefined : await ended(about, input, name);
        if (job) await deliver(about, job, { input, format, options, isOne: inputs.length === 1 });
        else print({ input, job: name }, options.has("json"), name);
      } catch (error) {
        display.clear();
        failed += 1;
        const problem = error instanceof ConnectError ? error.rawMessage : String(error);
        if (options.has("json")) print({ input, error: problem }, true, "");
        if (signal.aborted) process.stderr.write("hlust: stopped\n");
        else process.stderr.write(`hlust: ${input}: ${problem.replace(/^Error: /, "")}\n`);
      }
      if (signal.aborted) break;
    }
    return failed > 0 ? 1 : 0;
  },
};

/** Uploads a recording, unless it is a URL, and submits it. Returns the name of the job. */
async function submit(about: Transcription, input: string): Promise<string> {
  const { hlust, profile, display, signal, languageCode, isPlain } = about;
  const useUri = /^https?:\/\//.test(input);
  const onProgress = (sent: number, total: number): void => {
    display.progress(`${basename(input)}: uploading`, sent / total);
  };
  const uri = useUri ? input : await uploadFile(profile, input, { signal, onProgress });
  const subject = basename(useUri ? new URL(input).pathname : input, extname(input));
  const { name } = await hlust.transcripts.submitTranscriptJob(
    {
      useUri,
      uri,
      metadata: { fileType: FileType.AUDIO, languageCode, subject },
      enableAutomaticPunctuation: !isPlain,
      enableFormatting: !isPlain,
    },
    { signal },
  );
  return name;
}

/** Waits until the job has ended, and shows its progress. Throws if it has no transcript. */
async function ended(
  { hlust, display, signal }: Transcription,
  input: string,
  name: string,
): Promise<TranscriptJob> {
  const stop = (): void => {
    process.stderr.write(`\nThe job goes on. To follow it: hlust jobs watch ${name}\n`);
  };
  signal.addEventListener("abort", stop);
  try {
    return await watchJob(hlust, name, {
      signal,
      onChange: ({ progressPercent = 0 }) => {
        display.progress(`${basename(input)}: transcribing`, progressPercent / 100);
      },
    });
  } finally {
    signal.removeEventListener("abort", stop);
    display.clear();
  }
}

interface Delivery {
  readonly input: string;
  readonly format: Format;
  readonly options: Arguments<typeof table>;
  readonly isOne: boolean;
}

/** Writes the transcript to a file, or prints it if it is text and the only one. */
async function deliver(
  { hlust }: Transcription,
  job: TranscriptJob,
  { input, format, options, isOne }: Delivery,
): Promise<void> {
  const transcript = job.result.case === "transcript" ? job.result.value : "";
  const bytes = await exported(hlust, transcript, format);
  const output = options.text("output");
  const isBinary = format === "docx" || format === "odt";
  if (isOne && output === undefined && !isBinary && !options.has("json")) {
    process.stdout.write(bytes);
    return;
  }
  const named = `${basename(input, extname(input))}.${format}`;
  const file = isOne && output !== undefined ? output : join(output ?? ".", named);
  try {
    writeFileSync(file, bytes, { flag: options.has("force") ? "w" : "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new Error(
      `${file} exists: --force writes over it. The transcript is ${transcript}, and ` +
        `"hlust transcripts export ${transcript}" writes it again.`,
      { cause: error },
    );
  }
  print({ input, job: job.name, transcript, file }, options.has("json"), file);
}

function print(about: Readonly<Record<string, string>>, isJson: boolean, text: string): void {
  process.stdout.write(isJson ? `${JSON.stringify(about)}\n` : `${text}\n`);
}
