import { statfsSync } from "node:fs";
import { TableNode, type KyselyPlugin, type RootOperationNode } from "kysely";
import { diskFullState } from "./database-trouble.ts";

/**
 * Room that is reserved for PostgreSQL itself: without it, the next segment of its log (16 MB)
 * cannot be written, and it stops and does not start again, so that not even reads work.
 */
const reservedBytes = 64_000_000;

/**
 * Fails INSERTs as a full server would, while its disk still has some room. Everything else works:
 * statements that make room, or revoke access, with their line in the audit log.
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
