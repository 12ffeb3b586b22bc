/**
 * The schema of the database is older than this code: only the service and `hlust migrate` change
 * it.
 */
export class OlderSchemaError extends Error {
  override readonly name = "OlderSchemaError";
  /** The names of the migrations that it lacks. */
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    super(
      `the database is older than this version of Hlust: it lacks ${missing.join(", ")}. Run \`hlust migrate\`, or start ` +
        `the service of this version`,
    );
    this.missing = missing;
  }
}
