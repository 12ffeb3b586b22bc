import { queryOptions, useQuery } from "@tanstack/react-query";
import type {
  ListModelsResponseJson,
  Model_UseJson,
} from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { callApi } from "./call-api.ts";

/** The languages that are offered until the installed models are known. */
const usual: readonly string[] = ["is-IS", "en-US"];

/** The installed models. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async ({ signal }) => {
    const answer = await callApi<ListModelsResponseJson>("/v2beta1/models", { signal });
    return answer.models ?? [];
  },
  refetchInterval: 20_000,
});

/**
 * Returns the BCP 47 codes of the languages that have an installed model for a use, the usual ones
 * first.
 */
export function useInstalledLanguages(use: Model_UseJson): readonly string[] {
  const { data: models = [] } = useQuery(modelsQuery);
  const installed = new Set(
    models
      .filter(({ uses }) => uses?.includes(use))
      .flatMap(({ languageCodes = [] }) => languageCodes),
  );
  if (installed.size === 0) return usual;
  return [...usual.filter((code) => installed.has(code)), ...installed].filter(
    (code, at, all) => all.indexOf(code) === at,
  );
}
