import { ServiceError } from "../std/service-error.ts";

/** The time after which a caller may retry: the service's own server restarts within seconds. */
const retryAfterMs = 2_000;

/**
 * The code disk_full, from the server or from refuseWritesWhenFull(). An operator has to free disk
 * space.
 */
export const diskFullState = "53100";
const diskFullRetryMs = 10_000;

/**
 * The SQLSTATEs of a server that is stopping, is starting, or has run out of connections, memory or
 * locks. Class 08 is included as well.
 */
const unavailableStates = new Set([
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

const unavailableSystemErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "ENOTFOUND",
]);

/** Errors that pg reports only by their message. */
const unavailableMessages = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
  "Cannot use a pool after calling end on the pool",
];

/**
 * Returns the ServiceError for a database error: unavailable if the database is down, starting or
 * full; deadline_exceeded if a statement took too long. Returns undefined for anything else, which
 * is a bug or the caller's fault.
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
    return new ServiceError("unavailable", "the disk is full: stored data can still be read", {
      reason: "STORAGE_FULL",
      retryAfterMs: diskFullRetryMs,
      cause: error,
    });
  }
  if (isUnavailable(error, code)) {
    return new ServiceError("unavailable", "the database is unavailable for a moment: try again", {
      reason: "DATABASE_UNAVAILABLE",
      retryAfterMs,
      cause: error,
    });
  }
  return databaseTrouble(error.cause);
}

/** Whether an error is such a database error; background loops log these failures as warnings. */
export function isDatabaseTrouble(error: unknown): boolean {
  return databaseTrouble(error) !== undefined;
}

function isUnavailable(error: Error, code: string): boolean {
  if (code === "ENOENT") return "syscall" in error && error.syscall === "connect";
  return (
    unavailableStates.has(code) ||
    /^08...$/.test(code) ||
    unavailableSystemErrors.has(code) ||
    unavailableMessages.some((message) => error.message.startsWith(message))
  );
}
