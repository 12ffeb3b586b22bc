import { UsageError } from "../command.ts";
import { Arguments, describeOptions, type OptionTable } from "../options.ts";
import { ServerWatch, type ServerUse } from "./server-watch.ts";

/** The help text of a benchmark. */
export interface BenchUsage<Table extends OptionTable> {
  /** The first line, without `Usage: `. */
  readonly call: string;
  readonly about: string;
  readonly options: Table;
}

/**
 * Runs one benchmark: reads its arguments, shows its help, prints its report. `run` resolves to
 * whether everything succeeded; the exit code is 0 if so, else 1. Throws UsageError with the help.
 */
export async function runBench<Table extends OptionTable & { help: object; json: object }>(
  usage: BenchUsage<Table>,
  args: readonly string[],
  run: (args: Arguments<Table>) => Promise<{ report: object; text: string; isGood: boolean }>,
): Promise<number> {
  const { call, about, options } = usage;
  const help = `Usage: ${call}\n\n${about}\n\n${describeOptions(options)}`;
  try {
    const read = new Arguments(options, args);
    if (read.has("help")) {
      process.stdout.write(help);
      return 0;
    }
    const { report, text, isGood } = await run(read);
    process.stdout.write(read.has("json") ? `${JSON.stringify(report, undefined, 2)}\n` : text);
    return isGood ? 0 : 1;
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, help);
    throw error;
  }
}

/** Runs `work` while watching the server's processes. If there are none, their use is unknown. */
export async function watched<T>(
  pids: readonly number[],
  work: () => Promise<T>,
): Promise<{ result: T; server: ServerUse | undefined }> {
  if (pids.length === 0) return { result: await work(), server: undefined };
  using watch = await ServerWatch.start(pids);
  const result = await work();
  return { result, server: await watch.stop() };
}
