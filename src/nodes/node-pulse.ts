import type { Kysely } from "kysely";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import type { NodeStatus } from "../database/node-status.ts";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { within } from "../std/within.ts";
import { forgetNode, reportNode } from "./node-store.ts";

const everyMsDefault = 5_000;
/** How long disposal waits for a report in progress, and for the deletion of the row. */
const stopMsMax = 2_000;

/**
 * Reports a node to the operators every few seconds, beginning at once, until it is disposed of. It
 * then deletes the report.
 */
export function openNodePulse(parts: {
  readonly db: Kysely<Tables>;
  /** The id of the node. */
  readonly id: string;
  readonly status: () => Promise<NodeStatus>;
  readonly log: Log;
  /** Default: 5 s. */
  readonly everyMs?: number;
}): AsyncDisposable {
  const { db, id, status, log, everyMs = everyMsDefault } = parts;
  const event = "node.not_reported";
  const failing = { isWarning: isDatabaseTrouble, logsFirstOnly: true };
  const reports = openRepeat({ everyMs, ...failing, log, event, stopMsMax }, async () => {
    await reportNode(db, id, await status());
  });
  return {
    async [Symbol.asyncDispose]() {
      try {
        await reports[Symbol.asyncDispose]();
        await within(stopMsMax, forgetNode(db, id));
      } catch (error) {
        // Other nodes delete the row.
        log.debug(errorFields(error), "node.not_forgotten");
      }
    },
  };
}
