import { queryOptions } from "@tanstack/react-query";
import type {
  ListSharesResponseJson,
  ShareJson,
} from "../../../gen/hlust/transcripts/v1alpha1/share_pb.ts";
import { callApi } from "../../api/call-api.ts";

/** The shares of a transcript that have not expired, newest first. */
export function sharesQuery(name: string) {
  return queryOptions({
    queryKey: ["transcript-shares", name],
    queryFn: async ({ signal }): Promise<readonly ShareJson[]> => {
      const path = `/v1alpha1/${name}/shares`;
      return (await callApi<ListSharesResponseJson>(path, { signal })).shares ?? [];
    },
  });
}
