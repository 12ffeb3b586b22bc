import type { AuditEventJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { csvCell, csvText } from "../parts/csv.ts";
import { auditPage, type AuditFilter } from "./account-query.ts";

const columns = "time,actor,actor_name,action,resource,outcome,address,request_id,details".split(
  ",",
);

/** Reads all events of the audit log that are wanted, newest first. Throws ApiError. */
export async function allEvents(filter: AuditFilter): Promise<readonly AuditEventJson[]> {
  const events: AuditEventJson[] = [];
  let pageToken = "";
  do {
    const page = await auditPage(filter, { pageToken, pageSize: "1000" });
    events.push(...(page.auditEvents ?? []));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return events;
}

/** Returns events as CSV, with the field names of the API, and the details as JSON. */
export function auditCsv(
  events: readonly AuditEventJson[],
  nameOf: (actor: string) => string,
): string {
  const lines = events.map(({ details = {}, ...event }) => {
    const { time = "", actor = "", action = "", resource = "" } = event;
    const { outcome = "", address = "", requestId = "" } = event;
    const cells = [time, actor, nameOf(actor), action, resource, outcome, address, requestId];
    const hasDetails = Object.keys(details).length > 0;
    return [...cells, hasDetails ? JSON.stringify(details) : ""].map(csvCell);
  });
  return csvText([columns, ...lines]);
}
