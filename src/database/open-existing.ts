import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "../std/log.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database.ts";

export { migrations } from "./migrate.ts";
export { OlderSchemaError } from "./older-schema-error.ts";

/** The settings that locate the database. */
export interface DatabaseSettings {
  readonly dataFolder: string;
  readonly database: { readonly url: string | undefined };
}

/**
 * Opens the database of a service for a command, whether or not the service is running. If the
 * service has its own server, both share it, and the process that uses it last stops it. Rejects
 * with a message for the operator if there is no database. Rejects with OlderSchemaError if the
 * schema is older than this code, unless `schema` is "migrate": a command does not change the
 * schema by default. Rejects with NewerSchemaError if this code is too old for the database.
 */
export async function openExistingDatabase(
  settings: DatabaseSettings,
  { schema = "check" }: Pick<DatabaseOptions, "schema"> = {},
): Promise<Database> {
  const { dataFolder } = settings;
  const { url } = settings.database;
  const folder = join(dataFolder, "postgres");
  if (url === undefined && !(await isThere(folder))) {
    throw new Error(
      `there is no archive in ${dataFolder}: HLUST_DATA or DATABASE_URL says where one is`,
    );
  }
  return await openDatabase({ url, folder, log: createLog("silent"), schema });
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
