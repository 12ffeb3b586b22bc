import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  ListAuditEventsResponseJson,
  ListMembersResponseJson,
  ListSessionsResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";

export const membersQuery = queryOptions({
  queryKey: ["account", "members"],
  queryFn: async ({ signal }) => {
    const { members = [] } = await callApi<ListMembersResponseJson>("/v1/members", { signal });
    return members;
  },
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
