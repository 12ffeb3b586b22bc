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
