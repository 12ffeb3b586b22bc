import { UsageError } from "../cli/command.ts";

/**
 * Returns the name of the resource that the arguments name, which may lack its prefix. Throws
 * UsageError unless there is exactly one.
 */
export function oneName(names: readonly string[], kind: "transcriptjob" | "transcripts"): string {
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new UsageError(`name one ${kind === "transcripts" ? "transcript" : "job"}`);
  }
  return name.includes("/") ? name : `${kind}/${name}`;
}
