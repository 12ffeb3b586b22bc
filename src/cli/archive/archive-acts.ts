import { readConfig } from "../../config.ts";
import { openAnyArchive } from "../../media/open-archive.ts";
import {
  adoptMedia,
  archiveState,
  quarantineArchive,
  releaseArchive,
  type ArchiveState,
} from "../../operator/archive.ts";
import { createLog } from "../../std/log.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { Arguments, type OptionTable } from "../options.ts";

/** Runs `hlust archive show`. Resolves to 0 if a service would start and run normally. */
export async function show(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const read = readArguments(jsonOption, args);
  const settings = readConfig(environment);
  await using archive = await openAnyArchive(settings);
  const state = await archiveState({ ...archive, settings });
  if (read.has("json")) writeJson(state);
  else process.stdout.write(wordsOf(state));
  return state.problem === undefined && state.quarantine.length === 0 ? 0 : 1;
}

function wordsOf({ id, createdAt, database, store, problem, quarantine }: ArchiveState): string {
  const name = id === undefined ? "No service has started yet" : `Archive ${id}`;
  const since = createdAt ? `, since ${createdAt.toISOString()}` : "";
  const state =
    problem ??
    (quarantine.length === 0
      ? "A service runs normally."
      : `A service is in quarantine: ${quarantine.join("; ")}.`);
  return `${name}${since}\nDatabase: ${database}\nMedia: ${store}\n${state}\n`;
}

/** Runs `hlust archive quarantine`. */
export async function quarantine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  readArguments({}, args);
  await using archive = await openAnyArchive(readConfig(environment));
  await quarantineArchive(archive);
  process.stdout.write("The archive is in quarantine from the next start of a service.\n");
}

/** Runs `hlust archive release`. */
export async function release(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  readArguments({}, args);
  const settings = readConfig(environment);
  await using archive = await openAnyArchive(settings);
  await releaseArchive({ ...archive, settings });
  process.stdout.write("The quarantine has ended. Restart the services.\n");
}

const adoptOptions = {
  from: { hint: "ID", meaning: "the archive that the file hlust-archive in the media store names" },
} as const;

/** Runs `hlust archive adopt`. */
export async function adopt(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const from = readArguments(adoptOptions, args).text("from");
  const settings = readConfig(environment);
  await using archive = await openAnyArchive(settings);
  const id = await adoptMedia({ ...archive, settings, log: createLog("silent") }, from);
  process.stdout.write(
    id === undefined
      ? "Database and media belong to one archive already.\n"
      : `Database and media now belong to the archive ${id}. Restart the services.\n`,
  );
}

function readArguments<Table extends OptionTable>(
  table: Table,
  args: readonly string[],
): Arguments<Table> {
  const read = new Arguments(table, args);
  takePositionals(read.positionals, []);
  return read;
}
