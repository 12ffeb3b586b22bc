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
  type ListAuditEventsRequest,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, shown, type FieldViolation } from "../std/service-error.ts";

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
      const { actor, action } = request;
      const filter = actor === "" && action === "" ? "" : JSON.stringify([actor, action]);
      const scope = { collection: "auditEvents", accountId, filter };
      const page = readPageRequest(pageTokens, scope, request);
      const violations = [...(Array.isArray(page) ? page : []), ...checkFilter(request)];
      if (Array.isArray(page) || violations.length > 0) throw invalidArgument(violations);
      let query = db
        .selectFrom("audit_event")
        .where("account_id", "=", accountId)
        .selectAll()
        .select(exactTime("at").as("position"))
        .orderBy("at", "desc")
        .orderBy("id", "desc")
        .limit(page.size + 1);
      if (actor !== "") query = query.where("actor", "=", actor);
      if (action !== "") {
        query = query.where(
          sql<boolean>`(action = ${action} or starts_with(action, ${`${action}.`}))`,
        );
      }
      if (page.after) {
        const [time, id] = page.after;
        query = query.where(sql<boolean>`(at, id) < (${time}::timestamptz, ${id}::uuid)`);
      }
      const rows = await query.execute();
      const events = rows.slice(0, page.size);
      const last = events.at(-1);
      return {
        actors: page.after ? [] : await actorsOf(db, accountId),
        auditEvents: events.map(eventMessage),
        nextPageToken:
          last && rows.length > page.size ? pageTokens.write(scope, [last.position, last.id]) : "",
      };
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/** The maximum number of actors in an answer. */
const auditActorsMax = 5_000;

/**
 * Returns the actors of all events of an account. Each is found by one look into an index, however
 * many events it has.
 */
async function actorsOf(db: Kysely<Tables>, accountId: string): Promise<string[]> {
  const { rows } = await sql<{ actor: string }>`
    with recursive found as (
      (select actor from audit_event where account_id = ${accountId} order by actor limit 1)
      union all
      select (select next.actor from audit_event next
        where next.account_id = ${accountId} and next.actor > found.actor
        order by next.actor limit 1)
      from found where found.actor is not null)
    select actor from found where actor is not null limit ${auditActorsMax}
  `.execute(db);
  return rows.map(({ actor }) => actor);
}

/** The maximum lengths of the filter in characters. */
export const auditActorCharsMax = 200;
export const auditActionCharsMax = 100;
/** An action, or the part of it before a dot, which names a kind of action. */
export const auditActionPattern = /^([a-z_]+(\.[a-z_]+)*)?$/;

/** Finds violations in the filter of a request. */
function* checkFilter({
  actor,
  action,
}: Pick<ListAuditEventsRequest, "actor" | "action">): Generator<FieldViolation> {
  const chars = Array.from(actor).length;
  if (chars > auditActorCharsMax) {
    const description = `has ${chars} characters; at most ${auditActorCharsMax} are allowed`;
    yield { field: "actor", description };
  }
  // No actor has one, and PostgreSQL refuses NUL.
  if (/\p{Cc}/u.test(actor)) yield { field: "actor", description: "has a control character" };
  if (action.length > auditActionCharsMax) {
    const description = `has ${action.length} characters; at most ${auditActionCharsMax} are allowed`;
    yield { field: "action", description };
  } else if (!auditActionPattern.test(action)) {
    const description = `is ${shown(action)}, which is not an action such as transcript.delete`;
    yield { field: "action", description };
  }
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
