import { queryOptions } from "@tanstack/react-query";
import type {
  ListKeyUsageResponseJson,
  ListMemberUsageResponseJson,
  ListUsageDaysResponseJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "../api/call-api.ts";
import { type NamedUse, useOf } from "./use.ts";

/** How often the page is updated while it is visible. */
const pollMs = 30_000;
/** The maximum number of days with use that the page reads: nearly three years. */
const daysMax = 1000;

/** The use of each day, newest first, without unused days. */
export const allDaysQuery = queryOptions({
  queryKey: ["usageDays", "all"],
  queryFn: async ({ signal }): Promise<readonly NamedUse[]> => {
    const path = `/v1/usageDays?pageSize=${daysMax}`;
    const { usageDays = [] } = await callApi<ListUsageDaysResponseJson>(path, { signal });
    return usageDays.map((day) => ({ name: day.date ?? "", use: useOf(day) }));
  },
  refetchInterval: pollMs,
});

/** The use of each key in a month, such as "2026-11". Names are "apiKeys/<id>"; "" is the rest. */
export const keyUsageQuery = (month: string) =>
  queryOptions({
    queryKey: ["keyUsage", month],
    queryFn: async ({ signal }): Promise<readonly NamedUse[]> => {
      const query = new URLSearchParams({ month });
      const path = `/v1/keyUsage?${query.toString()}`;
      const { keyUsage = [] } = await callApi<ListKeyUsageResponseJson>(path, { signal });
      return keyUsage.map((each) => ({ name: each.key ?? "", use: useOf(each) }));
    },
    refetchInterval: pollMs,
  });

/** The use of each member in a month: "2026-11". Names are "members/<id>"; "" is the rest. */
export const memberUsageQuery = (month: string) =>
  queryOptions({
    queryKey: ["memberUsage", month],
    queryFn: async ({ signal }): Promise<readonly NamedUse[]> => {
      const query = new URLSearchParams({ month });
      const path = `/v1/memberUsage?${query.toString()}`;
      const { memberUsage = [] } = await callApi<ListMemberUsageResponseJson>(path, { signal });
      return memberUsage.map((each) => ({ name: each.member ?? "", use: useOf(each) }));
    },
    refetchInterval: pollMs,
  });
