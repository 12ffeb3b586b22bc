import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type {
  ListWebhookDeliveriesResponseJson,
  ListWebhooksResponseJson,
  WebhookJson,
} from "../../gen/hlust/webhooks/v1/webhooks_pb.ts";
import { callApi } from "../api/call-api.ts";

/** How often deliveries are updated while one is waiting, and otherwise. */
const pendingPollMs = 2_000;
const pollMs = 15_000;

/** The number of deliveries that a page of the list has. */
const pageSize = 20;

/** The types of events that a webhook can choose. */
export const eventTypes = ["transcriptjob.succeeded", "transcriptjob.failed"] as const;
export type EventType = (typeof eventTypes)[number];

export const webhooksQuery = queryOptions({
  queryKey: ["webhooks", "list"],
  queryFn: async ({ signal }) => {
    const { webhooks = [] } = await callApi<ListWebhooksResponseJson>("/v1/webhooks", { signal });
    return webhooks;
  },
});

/** One webhook. Its state changes when the service disables it. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", id],
    queryFn: ({ signal }) => callApi<WebhookJson>(pathOf(id), { signal }),
    refetchInterval: pollMs,
  });

export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", "deliveries", id],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ pageSize: `${pageSize}`, pageToken: pageParam });
      const path = `${pathOf(id)}/deliveries?${query.toString()}`;
      return callApi<ListWebhookDeliveriesResponseJson>(path, { signal });
    },
    getNextPageParam: ({ nextPageToken = "" }) =>
      nextPageToken === "" ? undefined : nextPageToken,
    refetchInterval: ({ state }) => {
      const all = state.data?.pages.flatMap(({ deliveries = [] }) => deliveries) ?? [];
      return all.some((delivery) => delivery.state === "PENDING") ? pendingPollMs : pollMs;
    },
  });

/** Changes a webhook, and shows the change on the pages. Throws ApiError. */
export async function changeWebhook(
  queries: QueryClient,
  name: string | undefined,
  body: Pick<WebhookJson, "url" | "displayName" | "eventTypes" | "disabled">,
): Promise<void> {
  await callApi(`/v1/${name}`, { method: "PATCH", body });
  await queries.invalidateQueries({ queryKey: ["webhooks"] });
}

/** Returns the path of a webhook whose id is part of the page's address. */
function pathOf(id: string): string {
  return `/v1/webhooks/${encodeURIComponent(id)}`;
}

/** Returns how pages name a webhook: its name, or else the host of its URL. */
export function titleOf({ displayName = "", url = "" }: WebhookJson): string {
  return displayName || (URL.parse(url)?.host ?? url);
}

/** Returns the id in a webhook's name. */
export function idOf({ name = "" }: WebhookJson): string {
  return name.slice(name.indexOf("/") + 1);
}
