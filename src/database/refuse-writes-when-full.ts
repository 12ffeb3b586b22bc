import { statfsSync } from "node:fs";
import { TableNode, type KyselyPlugin, type RootOperationNode } from "kysely";
import { diskFullState } from "./database-trouble.ts";

/**
 * Disk space that is reserved for PostgreSQL itself. Without it, the next segment of the
 * write-ahead log (16 MB) cannot be written. PostgreSQL then stops and does not start again, so
 * that even reads fail.
 */
const reservedBytes = 64_000_000;

/**
 * Fails INSERTs as a server with a full disk would, while the disk still has some space. Everything
 * else works, such as statements that free space or revoke access, with their entry in the audit
 * log.
 */
export function refuseWritesWhenFull(folder: string): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (isInsert(node)) requireRoom(folder);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

function isInsert(node: RootOperationNode): boolean {
  if (node.kind === "RawNode") return /^\s*insert\s/i.test(node.sqlFragments[0] ?? "");
  if (node.kind !== "InsertQueryNode") return false;
  const table = node.into && TableNode.is(node.into) ? node.into.table.identifier.name : undefined;
  return table !== "audit_event";
}

function requireRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= reservedBytes) return;
  const error = new Error(`fewer than ${reservedBytes} bytes are left on the disk of ${folder}`);
  throw Object.assign(error, { code: diskFullState });
}
