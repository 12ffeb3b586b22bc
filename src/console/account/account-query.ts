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

export const auditQuery = infiniteQueryOptions({
  queryKey: ["account", "audit"],
  initialPageParam: "",
  queryFn: ({ pageParam, signal }) => {
    const query = new URLSearchParams(pageParam === "" ? {} : { pageToken: pageParam });
    return callApi<ListAuditEventsResponseJson>(`/v1/auditEvents?${query.toString()}`, { signal });
  },
  getNextPageParam: ({ nextPageToken = "" }) => (nextPageToken === "" ? undefined : nextPageToken),
  staleTime: 30_000,
});
