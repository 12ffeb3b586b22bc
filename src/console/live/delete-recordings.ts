/** The database of the browser that has the live recordings. */
export const databaseName = "hlust-recordings";

/** Deletes all recordings of this browser, because its user has signed out. */
export function deleteAllRecordings(): void {
  indexedDB.deleteDatabase(databaseName);
}
