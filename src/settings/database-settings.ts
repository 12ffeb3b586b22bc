import { postgresUrl, whole, type ReadSetting, type Setting } from "../std/setting.ts";

/** Where the database is, and how a node uses it. */
export interface DatabaseConfig {
  /** undefined: the service's own PostgreSQL in the data folder. */
  readonly url: string | undefined;
  /** Most connections of this node's pool. */
  readonly connectionsMax: number;
  /** How long a call waits for one of them. */
  readonly waitMsMax: number;
}

export const databaseSettings = {
  url: {
    name: "DATABASE_URL",
    meaning: "PostgreSQL 15 or newer, or a PgBouncer before it, as postgres://...",
    fallback: "a PostgreSQL of its own in HLUST_DATA",
    secret: true,
    parse: (text, name) => (text === undefined ? undefined : postgresUrl(text, name)),
  },
  connectionsMax: {
    name: "DATABASE_CONNECTIONS_MAX",
    meaning:
      "Database connections that this node may hold; a migration at its start takes one more",
    fallback: "20",
    // The service's own server gives 60 to all who use it.
    parse: (text, name) => whole(text ?? "20", name, 2, 1000),
  },
  waitMsMax: {
    name: "DATABASE_WAIT_SECONDS",
    meaning:
      "How long a call waits for a database connection, in seconds; past it the call is answered 503",
    fallback: "5",
    parse: (text, name) => 1000 * whole(text ?? "5", name, 1, 60),
  },
} satisfies { [Key in keyof DatabaseConfig]: Setting<DatabaseConfig[Key]> };

export function readDatabase(read: ReadSetting): DatabaseConfig {
  return {
    url: read(databaseSettings.url),
    connectionsMax: read(databaseSettings.connectionsMax),
    waitMsMax: read(databaseSettings.waitMsMax),
  };
}
