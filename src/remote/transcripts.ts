import { writeFileSync } from "node:fs";
import process from "node:process";
import { toJson } from "@bufbuild/protobuf";
import { commandGroup } from "../cli/command-group.ts";
import { columns } from "../cli/models/columns.ts";
import { Arguments, describeOptions } from "../cli/options.ts";
import { TranscriptSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { connect, profileOptions } from "./connect.ts";
import { exportOptionsOf, exportOptionTable } from "./export-options.ts";
import { exported, formatNames, formatOf } from "./formats.ts";
import { oneName } from "./one-name.ts";

const table = {
  search: { hint: "TEXT", meaning: "list those whose title contains the text" },
  count: { hint: "N", meaning: "how many are listed at most", fallback: "20" },
  format: { hint: "NAME", meaning: formatNames, fallback: "txt" },
  ...exportOptionTable,
  output: { hint: "FILE", meaning: "the file to export to; default: standard output" },
  json: { meaning: "print JSON" },
  ...profileOptions,
};

export const transcripts = commandGroup({
  name: "transcripts",
  summary: "list, export and delete transcripts",
  subcommands: {
    list: {
      call: "list",
      summary: "list transcripts, those that were changed last first",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const { hlust } = connect(options.text("profile"), environment);
        const search = options.text("search");
        const { transcripts } = await hlust.transcripts.listTranscripts({
          pageSize: options.number("count", { min: 1, max: 1_000, whole: true }),
          filter: search === undefined ? "" : `metadata.subject CONTAINS ${JSON.stringify(search)}`,
        });
        if (options.has("json")) {
          for (const transcript of transcripts) {
            process.stdout.write(`${JSON.stringify(toJson(TranscriptSchema, transcript))}\n`);
          }
          return;
        }
        const rows = transcripts.map(({ name, metadata }) => {
          return [name, metadata?.languageCode ?? "", metadata?.subject ?? ""];
        });
        process.stdout.write(columns(rows));
      },
    },
    export: {
      call: "export TRANSCRIPT",
      summary: "write a transcript as text, subtitles or a document",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const name = oneName(options.positionals, "transcripts");
        const format = formatOf(options.text("format") ?? "");
        const shown = exportOptionsOf(options);
        const { hlust } = connect(options.text("profile"), environment);
        const bytes = await exported(hlust, name, format, shown);
        const output = options.text("output");
        if (output === undefined) process.stdout.write(bytes);
        else writeFileSync(output, bytes);
      },
    },
    delete: {
      call: "delete TRANSCRIPT",
      summary: "delete a transcript with its versions and its recording",
      async run(args, environment) {
        const options = new Arguments(table, args);
        const name = oneName(options.positionals, "transcripts");
        const { hlust } = connect(options.text("profile"), environment);
        await hlust.transcripts.deleteTranscript({ name });
      },
    },
  },
  notes: () => Promise.resolve(describeOptions(table)),
});
