import type { LogEvent } from "kysely";
import { currentSpan, startSpan } from "../tracing/tracing.ts";

/** The kinds of Kysely's statements, with the words of SQL. */
const operations: Readonly<Record<string, string>> = {
  SelectQueryNode: "SELECT",
  InsertQueryNode: "INSERT",
  UpdateQueryNode: "UPDATE",
  DeleteQueryNode: "DELETE",
};
/** The first table of a statement, in the names of which SQL has no data of callers. */
const firstTable = /\b(?:from|into|update)\s+"?([a-z_]+)"?/i;
const firstWord = /^\s*(with|select|insert|update|delete|begin|commit|rollback|set)\b/i;

/**
 * Makes a span of a statement that has ended, if it ran for a call or a job that goes on. A stream
 * has no spans of its statements, since it may last for hours. The span has the kind
 * of the statement and its first table, not its text.
 */
export function traceStatement({ query, queryDurationMillis, level }: LogEvent): void {
  if (currentSpan()?.isEnded !== false) return;
  const word = firstWord.exec(query.sql)?.[1]?.toUpperCase() ?? "SQL";
  const operation = operations[query.query.kind] ?? word;
  const table = firstTable.exec(query.sql)?.[1]?.toLowerCase();
  const span = startSpan(table === undefined ? operation : `${operation} ${table}`, {
    kind: "client",
    startMs: Date.now() - queryDurationMillis,
    attributes: {
      "db.system.name": "postgresql",
      "db.operation.name": operation,
      ...(table !== undefined && { "db.collection.name": table }),
    },
  });
  if (level === "error") span?.fail("database");
  span?.end();
}
