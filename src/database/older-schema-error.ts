/**
 * The schema of the database is older than this code. Only the service and `hlust migrate` change
 * the schema.
 */
export class OlderSchemaError extends Error {
  override readonly name = "OlderSchemaError";
  /** The names of the migrations that the database lacks. */
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    super(
      `the database is older than this version of Hlust: it lacks ${missing.join(", ")}. Run \`hlust migrate\`, or start ` +
        `the service of this version`,
    );
    this.missing = missing;
  }
}
