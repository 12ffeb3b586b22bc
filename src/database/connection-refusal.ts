/**
 * Whether PostgreSQL, a PgBouncer, or the limit of a role or database allows no more connections.
 */
export function refusesConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFull = "code" in error && error.code === "53300";
  return isFull || error.message.startsWith("no more connections allowed");
}

/** Returns the startup parameter that a PgBouncer refuses; undefined for any other error. */
export function refusesParameter(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /^unsupported startup parameter(?: in options)?: (\S+)/.exec(error.message)?.[1];
}

/**
 * Creates an error for the operator. It has no cause: an unavailable database may become available
 * again, but this error requires a change of the settings.
 */
export function limitsInUrl(parameter: string): Error {
  return new Error(
    `PgBouncer refuses the parameter ${parameter} of a connection: remove it from DATABASE_URL, or add it to ` +
      `ignore_startup_parameters in the configuration of PgBouncer`,
  );
}
