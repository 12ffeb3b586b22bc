import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Arguments, OptionTable } from "../cli/options.ts";
import {
  ExportOptions_Times as Times,
  type ExportOptionsSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** The options of a command that say what an exported file shows. */
export const exportOptionTable = {
  speakers: { hint: "yes|no", meaning: "names of speakers; default: yes, in srt no" },
  title: { hint: "yes|no", meaning: "the title, in txt, docx and odt" },
  times: { hint: "yes|no", meaning: "the time of each paragraph, in txt, docx and odt" },
  interval: { hint: "SECONDS", meaning: "times within paragraphs too, 5 to 3600 seconds apart" },
  "line-chars": {
    hint: "N",
    meaning: "characters in a line of srt and vtt, 20 to 100; default: 42",
  },
  lines: { hint: "N", meaning: "lines of a subtitle in srt and vtt, 1 or 2; default: 2" },
} satisfies OptionTable;

/** Returns the options that were given. Throws UsageError. */
export function exportOptionsOf(
  args: Arguments<typeof exportOptionTable>,
): MessageInitShape<typeof ExportOptionsSchema> | undefined {
  const isGiven = (name: keyof typeof exportOptionTable): boolean => args.text(name) !== undefined;
  const isYes = (name: "speakers" | "title" | "times"): boolean =>
    args.oneOf(name, ["yes", "no"]) === "yes";
  const count = (name: "interval" | "line-chars" | "lines", min: number, max: number): number =>
    args.number(name, { min, max, whole: true });
  const options = {
    ...(isGiven("speakers") && { speakers: isYes("speakers") }),
    ...(isGiven("title") && { title: isYes("title") }),
    ...(isGiven("times") && { times: isYes("times") ? Times.PARAGRAPH : Times.NONE }),
    ...(isGiven("interval") && { intervalSeconds: count("interval", 5, 3600) }),
    ...(isGiven("line-chars") && { lineChars: count("line-chars", 20, 100) }),
    ...(isGiven("lines") && { lines: count("lines", 1, 2) }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}
