/** What the migrations that this code does not know need. */
export interface Requirement {
  /** The oldest version of the program; null if the migration does not state it. */
  readonly version: string | null;
  /** The name of the migration that needs it. */
  readonly migration: string;
}

/** A newer version has changed the schema in a way that this version cannot run on. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";

  constructor(program: string, { version, migration }: Requirement) {
    const back = `to go back to ${program}, restore a backup from before that migration`;
    super(
      version === null
        ? `the database was used by a newer Hlust: it has the migration ${migration}, which this version (${program}) does ` +
            `not know, and which does not state the versions that can run on it. Start the version that made it or a later ` +
            `one; ${back}`
        : `the database needs Hlust ${version} or newer, and this is ${program}: older versions cannot run on its migration ` +
            `${migration}. Start ${version} or a later version; ${back}`,
    );
  }
}
