import { ifSet, postgresUrl, whole, type ReadSetting, type Setting } from "../std/setting.ts";

/** The settings of the database. */
export interface DatabaseConfig {
  /**
   * The address of the database. If undefined, the service uses its own PostgreSQL in the data
   * folder.
   */
  readonly url: string | undefined;
  /** The maximum number of connections in this node's pool. */
  readonly connectionsMax: number;
  /** The maximum time for which a call waits for a connection. */
  readonly waitMsMax: number;
  /** The maximum time of a statement, except those of migrations. */
  readonly statementMsMax: number;
}

export const databaseSettings = {
  url: {
    name: "DATABASE_URL",
    meaning: "PostgreSQL 15 or newer, or a PgBouncer in front of it, as postgres://...",
    fallback: "the service's own PostgreSQL in HLUST_DATA",
    secret: true,
    parse: ifSet(postgresUrl),
  },
  connectionsMax: {
    name: "DATABASE_CONNECTIONS_MAX",
    meaning:
      "Maximum number of database connections of this node; a migration at its start uses one more",
    fallback: "20",
    // The service's own PostgreSQL accepts 100 connections in all.
    parse: (text, name) => whole(text ?? "20", name, 2, 1000),
  },
  waitMsMax: {
    name: "DATABASE_WAIT_SECONDS",
    meaning:
      "How long a call waits for a database connection, in seconds; then the call is answered 503",
    fallback: "5",
    parse: (text, name) => 1000 * whole(text ?? "5", name, 1, 60),
  },
  statementMsMax: {
    name: "DATABASE_STATEMENT_SECONDS",
    meaning:
      "How long a statement of the database may take, in seconds; longer ones are ended, and their call is answered 504",
    fallback: "30",
    parse: (text, name) => 1000 * whole(text ?? "30", name, 5, 600),
  },
} satisfies { [Key in keyof DatabaseConfig]: Setting<DatabaseConfig[Key]> };

export function readDatabase(read: ReadSetting): DatabaseConfig {
  return {
    url: read(databaseSettings.url),
    connectionsMax: read(databaseSettings.connectionsMax),
    waitMsMax: read(databaseSettings.waitMsMax),
    statementMsMax: read(databaseSettings.statementMsMax),
  };
}
