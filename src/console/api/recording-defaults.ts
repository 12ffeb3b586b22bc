import { queryOptions, useQuery } from "@tanstack/react-query";
import type {
  AccountJson,
  RecordingDefaultsJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { callApi } from "./call-api.ts";

/** The account of the signed-in user, with its settings, limits and use. */
export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: ({ signal }) => callApi<AccountJson>("/v1/account", { signal }),
});

/** How long the defaults are used before they are read again. */
const staleMs = 20_000;

/** The account's defaults for new recordings. */
export type RecordingDefaults = Omit<RecordingDefaultsJson, "languageCode"> & {
  /** undefined: that of the console. */
  readonly languageCode: string | undefined;
};

/** Returns the account's defaults for new recordings; none until they are known. */
export function useRecordingDefaults(): RecordingDefaults {
  const { data } = useQuery({ ...accountQuery, staleTime: staleMs });
  const { languageCode = "", ...defaults } = data?.recordingDefaults ?? {};
  return { ...defaults, languageCode: languageCode === "" ? undefined : languageCode };
}
