import { statfsSync } from "node:fs";
import { TableNode, type KyselyPlugin, type OperationNode, type RootOperationNode } from "kysely";
import { diskFullState } from "./database-trouble.ts";

/**
 * Disk space that is reserved for PostgreSQL itself. Without it, the next segment of the
 * write-ahead log (16 MB) cannot be written. PostgreSQL then stops and does not start again, so
 * that even reads fail.
 */
const reservedBytes = 64_000_000;

/**
 * Tables whose rows are replaced by long ones, so that an UPDATE needs as much space as an INSERT.
 */
const replaced: ReadonlySet<string | undefined> = new Set(["transcript_draft"]);

/** Tables with short rows that are needed to free space, or to save data elsewhere. */
const allowed: ReadonlySet<string | undefined> = new Set([
  "audit_event",
  "media_hold",
  "deferred_deletion",
]);

/**
 * Fails INSERTs, and UPDATEs of drafts, as a server with a full disk would, while the disk still
 * has some space. Everything else works, such as statements that free space or revoke access, with
 * their entry in the audit log.
 */
export function refuseWritesWhenFull(folder: string): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (needsRoom(node)) requireRoom(folder);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

function needsRoom(node: RootOperationNode): boolean {
  if (node.kind === "RawNode") return /^\s*insert\s/i.test(node.sqlFragments[0] ?? "");
  if (node.kind === "UpdateQueryNode") return replaced.has(nameOf(node.table));
  return node.kind === "InsertQueryNode" && !allowed.has(nameOf(node.into));
}

function nameOf(table: OperationNode | undefined): string | undefined {
  return table && TableNode.is(table) ? table.table.identifier.name : undefined;
}

function requireRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= reservedBytes) return;
  const error = new Error(`fewer than ${reservedBytes} bytes are left on the disk of ${folder}`);
  throw Object.assign(error, { code: diskFullState });
}
