import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type Selectable } from "kysely";
import { callerOf } from "../auth/caller.ts";
import { exactTime } from "../database/exact-time.ts";
import type { AuditEventTable } from "../database/access-tables.ts";
import type { Tables } from "../database/tables.ts";
import {
  AuditEventSchema,
  type Accounts,
  type AuditEvent,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument } from "../std/service-error.ts";

/** Creates the RPC of the audit log. */
export function auditMethods({
  db,
  pageTokens,
}: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
}) {
  return {
    async listAuditEvents(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "auditEvents", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      let query = db
        .selectFrom("audit_event")
        .where("account_id", "=", accountId)
        .selectAll()
        .select(exactTime("at").as("position"))
        .orderBy("at", "desc")
        .orderBy("id", "desc")
        .limit(page.size + 1);
      if (page.after) {
        const [time, id] = page.after;
        query = query.where(sql<boolean>`(at, id) < (${time}::timestamptz, ${id}::uuid)`);
      }
      const rows = await query.execute();
      const events = rows.slice(0, page.size);
      const last = events.at(-1);
      return {
        auditEvents: events.map(eventMessage),
        nextPageToken:
          last && rows.length > page.size ? pageTokens.write(scope, [last.position, last.id]) : "",
      };
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

function eventMessage(row: Selectable<AuditEventTable>): AuditEvent {
  return create(AuditEventSchema, {
    name: `auditEvents/${row.id}`,
    time: timestampFromDate(row.at),
    actor: row.actor,
    action: row.action,
    resource: row.resource,
    outcome: row.outcome,
    address: row.address,
    requestId: row.request_id,
    details: row.details,
  });
}
