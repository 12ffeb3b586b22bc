import { UsageError, type Command } from "./command.ts";
import { columns } from "./models/columns.ts";

/** A subcommand of a group, such as `list` in `models list`. */
export interface Subcommand {
  /** The name and arguments of the subcommand, as the help shows them: `pull NAME`. */
  readonly call: string;
  readonly summary: string;
  /** Runs the subcommand. Resolves to the exit code; undefined means 0. */
  readonly run: (
    args: readonly string[],
    environment: NodeJS.ProcessEnv,
  ) => Promise<number | undefined | void>;
}

/** Creates a command whose first argument is a subcommand, such as `hlust models list`. */
export function commandGroup(group: {
  readonly name: string;
  readonly summary: string;
  readonly subcommands: Readonly<Record<string, Subcommand>>;
  /** Returns the text that is shown below the list of subcommands. */
  readonly notes: () => Promise<string>;
}): Command {
  const { name: groupName, summary, subcommands, notes } = group;
  const usage = async (): Promise<string> => {
    const calls = Object.values(subcommands).map(({ call, summary }) => [`  ${call}`, summary]);
    return `Usage: hlust ${groupName} <what>\n\n${columns(calls)}\n${await notes()}`;
  };
  return {
    summary,
    async run([name, ...args], environment) {
      const isHelp = (argument: string | undefined): boolean =>
        argument !== undefined && /^(-h|--help)$/.test(argument);
      if (name === undefined || name === "help" || isHelp(name) || args.some(isHelp)) {
        process.stdout.write(await usage());
        return 0;
      }
      const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
      try {
        if (!subcommand)
          throw new UsageError(`unknown subcommand ${JSON.stringify(name)} of ${groupName}`);
        return (await subcommand.run(args, environment)) ?? 0;
      } catch (error) {
        throw error instanceof UsageError ? new UsageError(error.message, await usage()) : error;
      }
    },
  };
}
