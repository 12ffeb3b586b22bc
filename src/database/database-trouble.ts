import { ServiceError } from "../std/service-error.ts";

/** When a caller may come again: the own server is back within seconds. */
const retryAfterMs = 2_000;

/** disk_full: of the server, and of refuseWritesWhenFull(). Room is made by people. */
export const diskFullState = "53100";
const diskFullRetryMs = 10_000;

/**
 * SQLSTATEs of a server that goes, starts, or has no connection, memory or lock left; class 08
 * comes on top.
 */
const awayStates = new Set([
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "57P05", // idle_session_timeout
  "25P03", // idle_in_transaction_session_timeout
  "25006", // read_only_sql_transaction: a standby, while another server takes over
  "53000",
  "53200", // out_of_memory
  "53300", // too_many_connections
  "40P01", // deadlock_detected: of two, one has to come again
]);

const awaySystemErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
]);

/** pg says these in words only. */
const awayMessages = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
  "Cannot use a pool after calling end on the pool",
];

/**
 * What a caller is told of a database error: unavailable when the database is away, starting or out
 * of room, deadline_exceeded when a statement took too long. undefined for anything else: that is a
 * bug or the caller's matter.
 */
export function databaseTrouble(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error) || error instanceof ServiceError) return undefined;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (code === "57014" || error.message === "Query read timeout") {
    return new ServiceError("deadline_exceeded", "the database did not answer in time", {
      reason: "DATABASE_TIMEOUT",
      cause: error,
    });
  }
  if (code === diskFullState) {
    return new ServiceError("unavailable", "there is no room for more: what is kept can be read", {
      reason: "STORAGE_FULL",
      retryAfterMs: diskFullRetryMs,
      cause: error,
    });
  }
  if (isAway(error, code)) {
    return new ServiceError("unavailable", "the database is away for a moment: try again", {
      reason: "DATABASE_UNAVAILABLE",
      retryAfterMs,
      cause: error,
    });
  }
  return databaseTrouble(error.cause);
}

/** Whether it is one; background loops log such failures as warnings. */
export function isDatabaseTrouble(error: unknown): boolean {
  return databaseTrouble(error) !== undefined;
}

function isAway(error: Error, code: string): boolean {
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return (
    awayStates.has(code) ||
    /^08...$/.test(code) ||
    awaySystemErrors.has(code) ||
    awayMessages.some((message) => error.message.startsWith(message))
  );
}
