/** A command of the command line. */
export interface Command {
  readonly summary: string;
  /**
   * Runs the command. Resolves to the exit code; undefined means 0. Throws UsageError for invalid
   * arguments.
   */
  readonly run: (
    args: readonly string[],
    environment: NodeJS.ProcessEnv,
  ) => Promise<number | undefined>;
}

/** Invalid arguments. The message names the argument, and `usage` is the help to show. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly usage: string | undefined;

  constructor(message: string, usage?: string) {
    super(message);
    this.usage = usage;
  }
}

/** Throws UsageError if there are arguments, for commands that accept none. */
export function refuseArguments(args: readonly string[]): void {
  if (args.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(args[0])}`);
}
