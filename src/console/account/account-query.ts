import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  ListAuditEventsResponseJson,
  ListMembersResponseJson,
  ListSessionsResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";

/** The members, and whether they can be sent mail. */
export const memberListQuery = queryOptions({
  queryKey: ["account", "members"],
  queryFn: ({ signal }) => callApi<ListMembersResponseJson>("/v1/members", { signal }),
  // Mail is sent within seconds.
  refetchInterval: ({ state: { data } }) =>
    data?.members?.some(({ invitationMail }) => invitationMail?.state === "PENDING") === true
      ? pendingMailMs
      : false,
});

/** How often the list is loaded again while a mail is on its way. */
const pendingMailMs = 5_000;

/** The members. */
export const membersQuery = queryOptions({
  ...memberListQuery,
  select: ({ members = [] }) => members,
});

export const sessionsQuery = queryOptions({
  queryKey: ["account", "sessions"],
  queryFn: async ({ signal }) => {
    const { sessions = [] } = await callApi<ListSessionsResponseJson>("/v1/sessions", { signal });
    return sessions;
  },
});

/** The events of the audit log that are wanted; "" stands for all. */
export interface AuditFilter {
  /** The name of a member or key, or "operator". */
  readonly actor: string;
  /** The first part of the actions, such as "transcript". */
  readonly action: string;
}

export const wholeLog: AuditFilter = { actor: "", action: "" };

export function auditQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["account", "audit", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => auditPage(filter, { pageToken: pageParam }, signal),
    getNextPageParam: ({ nextPageToken = "" }) =>
      nextPageToken === "" ? undefined : nextPageToken,
    staleTime: 30_000,
  });
}

/** Returns a page of the audit log. Throws ApiError. */
export async function auditPage(
  filter: AuditFilter,
  page: { readonly pageToken: string; readonly pageSize?: string },
  signal?: AbortSignal,
): Promise<ListAuditEventsResponseJson> {
  const set = Object.entries({ ...filter, ...page }).filter(([, value]) => value !== "");
  const query = new URLSearchParams(Object.fromEntries(set));
  return await callApi<ListAuditEventsResponseJson>(
    `/v1/auditEvents?${query.toString()}`,
    signal ? { signal } : {},
  );
}
