import { infiniteQueryOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import type {
  ListCatalogueModelsResponseJson,
  ListManagedAccountsResponseJson,
  ListModelTasksResponseJson,
  ListNodesResponseJson,
  ManagedAccountJson,
  QueuesJson,
} from "../../gen/hlust/operator/v1/operator_pb.ts";
import { callApi } from "../api/call-api.ts";

/** How often the page is updated while it is visible. */
const pollMs = 5_000;
/** Progress is followed more closely. */
const tasksPollMs = 2_000;
/** Accounts change slowly, and their use takes longer to compute. */
const accountsPollMs = 15_000;
const accountsPerPage = 50;

export const nodesQuery = queryOptions({
  queryKey: ["operator", "nodes"],
  queryFn: ({ signal }) => callApi<ListNodesResponseJson>("/v1/operator/nodes", { signal }),
  refetchInterval: pollMs,
});

export const queuesQuery = queryOptions({
  queryKey: ["operator", "queues"],
  queryFn: ({ signal }) => callApi<QueuesJson>("/v1/operator/queues", { signal }),
  refetchInterval: pollMs,
});

/** The models that can be pulled, which change only with the service. */
export const catalogueQuery = queryOptions({
  queryKey: ["operator", "catalogue"],
  queryFn: ({ signal }) =>
    callApi<ListCatalogueModelsResponseJson>("/v1/operator/catalogueModels", { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The latest tasks with models. */
export const modelTasksQuery = queryOptions({
  queryKey: ["operator", "modelTasks"],
  queryFn: ({ signal }) =>
    callApi<ListModelTasksResponseJson>("/v1/operator/modelTasks?pageSize=20", { signal }),
  refetchInterval: tasksPollMs,
});

/** All accounts, oldest first, page by page. */
export const managedAccountsQuery = infiniteQueryOptions({
  queryKey: ["operator", "accounts"],
  initialPageParam: "",
  queryFn: ({ signal, pageParam }) => {
    const query = new URLSearchParams({ pageSize: `${accountsPerPage}`, pageToken: pageParam });
    const path = `/v1/operator/accounts?${query.toString()}`;
    return callApi<ListManagedAccountsResponseJson>(path, { signal });
  },
  getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  refetchInterval: accountsPollMs,
});

/** Changes an account, and shows the change in the list. Throws ApiError. */
export async function changeAccount(
  queries: QueryClient,
  { name }: ManagedAccountJson,
  body: Pick<ManagedAccountJson, "disabled" | "ownLimits">,
): Promise<void> {
  await callApi(`/v1/operator/${name}`, { method: "PATCH", body });
  await queries.invalidateQueries({ queryKey: managedAccountsQuery.queryKey });
}
