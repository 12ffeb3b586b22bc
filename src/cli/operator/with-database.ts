import { readConfig } from "../../config.ts";
import { openExistingDatabase } from "../../database/open-existing.ts";
import type { OpenArchive } from "../../media/open-archive.ts";

/** The database of a service. */
export type ServiceDatabase = OpenArchive["db"];

/**
 * Runs a function with the database of the service in the environment, whether or not the service
 * is running.
 */
export async function withDatabase<Result>(
  environment: NodeJS.ProcessEnv,
  run: (db: ServiceDatabase) => Promise<Result>,
): Promise<Result> {
  await using database = await openExistingDatabase(readConfig(environment));
  return await run(database.db);
}
