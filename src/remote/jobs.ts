import process from "node:process";
import { commandGroup } from "../cli/command-group.ts";
import { columns } from "../cli/models/columns.ts";
import { Arguments, describeOptions } from "../cli/options.ts";
import { toJson } from "@bufbuild/protobuf";
import {
  TranscriptJob_State as State,
  TranscriptJobSchema,
  type TranscriptJob,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { errorDetails } from "../client/read-error.ts";
import { connect, profileOptions } from "./connect.ts";
import { Display } from "./display.ts";
import { watchJob } from "./watch-job.ts";
import { oneName } from "./one-name.ts";

const table = {
  count: { hint: "N", meaning: "how many are listed at most, newest first", fallback: "20" },
  json: { meaning: "print JSON" },
  ...profileOptions,
};

export const jobs = commandGroup({
  name: "jobs",
  summary: "list, watch and cancel jobs",
  subcommands: {
    list: {
      call: "list",
      summary: "list jobs",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const { hlust } = connect(options.text("profile"), environment);
        const pageSize = options.number("count", { min: 1, max: 1_000, whole: true });
        const { jobs } = await hlust.transcripts.listTranscriptJobs({ pageSize });
        if (options.has("json")) jobs.forEach(printJson);
        else process.stdout.write(columns(jobs.map(rowOf)));
      },
    },
    watch: {
      call: "watch JOB",
      summary: "wait for a job, and print the name of its transcript",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const name = oneName(options.positionals, "transcriptjob");
        const { hlust } = connect(options.text("profile"), environment);
        const display = new Display();
        const { signal } = new AbortController();
        const onChange = ({ progressPercent = 0 }: TranscriptJob): void =>
          display.progress(name, progressPercent / 100);
        const job = await watchJob(hlust, name, { signal, onChange }).finally(() =>
          display.clear(),
        );
        if (options.has("json")) printJson(job);
        else if (job.result.case === "transcript") process.stdout.write(`${job.result.value}\n`);
      },
    },
    cancel: {
      call: "cancel JOB",
      summary: "cancel a job",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const name = oneName(options.positionals, "transcriptjob");
        const { hlust } = connect(options.text("profile"), environment);
        await hlust.transcripts.cancelTranscriptJob({ name });
      },
    },
  },
  notes: () => Promise.resolve(describeOptions(table)),
});

function printJson(job: TranscriptJob): void {
  process.stdout.write(
    `${JSON.stringify(toJson(TranscriptJobSchema, job, { registry: errorDetails }))}\n`,
  );
}

function rowOf(job: TranscriptJob): string[] {
  const [state = ""] = Object.entries(State).find(([, value]) => value === job.state) ?? [];
  const share = job.state === State.PROCESSING ? `${job.progressPercent ?? 0} %` : "";
  const described = state.toLowerCase().replaceAll("_", " ");
  return [
    job.name,
    described,
    share,
    job.transcriptMetadata?.languageCode ?? "",
    job.transcriptMetadata?.subject ?? "",
  ];
}
